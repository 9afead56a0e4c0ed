"""Notes in a store what the short forms of a view stand for, so that they can be undone."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from refold.agent.compressed_content import drop_short_form
from refold.engine import scoped
from refold.errors import describe
from refold.render import Rendering, render_short_forms
from refold.stores.base import Store

_MOST: Final = 16_384
"""How many keys are remembered as written; those forgotten are written again."""
_log: Final = logging.getLogger("refold.agent")


class ViewLinks:
    """The links of the views of one manager; safe to share between threads."""

    def __init__(self, store: Store, conversation: str | None = None) -> None:
        own = scoped(store, conversation)
        assert own is not None, "there is a store"
        self._store = own
        self._conversation = conversation
        self._lock = threading.Lock()
        self._written: OrderedDict[str, None] = OrderedDict()

    def note(self, messages: Sequence[Any], view: list[Any]) -> list[Any]:
        """Return the *view* of *messages* to send, once the store knows what it stands for.

        Where the store fails, the view stays as it is: short forms show their handles anyway.
        """
        rendering = render_short_forms(
            [drop_short_form(m) for m in messages], view, self._conversation
        )
        try:
            self._write(rendering)
        except Exception as error:  # noqa: BLE001 - stores may be foreign, and no view may fail
            _log.warning("the store did not take what a view stands for: %s", describe(error))
            return view
        return rendering.messages

    def _write(self, rendering: Rendering) -> None:
        """Put what was not put before."""
        with self._lock:
            fresh = {k: v for k, v in rendering.entries.items() if k not in self._written}
        if not fresh:
            return
        self._store.put(fresh)
        with self._lock:
            self._written.update(dict.fromkeys(fresh))
            while len(self._written) > _MOST:
                self._written.popitem(last=False)
