"""Respelling on arrival: a result is written shorter without loss once, before it is first sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from refold.codecs import Codec
from refold.codecs.shown import Shown
from refold.messages.folds import Fold, kept_fold
from refold.messages.message import Call, Message
from refold.messages.untouchable import reason_to_stay
from refold.notation.recognize import is_marked
from refold.options import Options
from refold.plan.recode import Key, Reads, Recoded, fold_lossless, note_shown
from refold.plan.text_cache import TextCache

_NOT_ON_ARRIVAL: Final = ("search_hits",)
"""They take values apart that a call may quote next: `src/a.py:12` is then a heading and a row."""
_FOR_FILES: Final = ("numbered", "log_templates")
"""What may be done to a file, which is read to be edited: its own JSON and tabs stay."""
_READS: Final = re.compile(
    r"(?i)(?:^|[_.:/-]|(?<=[a-z])(?=[A-Z]))(?:read|view|open|cat|edit|editor|write|file|load|show)"
    r"(?=[_.:/-]|[A-Z]|$)"
)
_SHELL_READS: Final = re.compile(r"\b(?:cat|sed|head|tail|nl|bat|less|more|awk|diff|show)\b")


class Arrival:
    """Spells the messages of one conversation as they come, and knows what a reader has seen."""

    def __init__(self, options: Options, text_cache: TextCache) -> None:
        self._options = options
        self._cache = text_cache
        self._reads = Reads()
        self._shown = Shown()
        rows = text_cache.codecs.rows
        self._codecs = tuple(codec for codec in rows if codec.name not in _NOT_ON_ARRIVAL)
        self._for_files = tuple(codec for codec in rows if codec.name in _FOR_FILES)

    def spell(self, message: Message) -> Fold:
        """Return how the next message is sent."""
        why = reason_to_stay(message, self._options)
        if not why and self._options.profile == "classic":
            why = "not_folded_yet"
        rereads = dict(self._reads.find(message, is_whole=bool(why)))
        if why:
            fold = kept_fold(message, why)
        elif message.is_tool_result:
            fold = fold_lossless(
                message, rereads, self._recoded(message), self._cache.tokens, shown=self._shown
            )
        else:
            fold = kept_fold(message, "nothing_to_gain")
        note_shown(fold, message, self._shown)
        return fold

    def note(self, message: Message, sent: Message) -> None:
        """Note that the next message was *sent* in a form that loses nothing."""
        for _ in self._reads.find(message):
            pass
        note_shown(kept_fold(sent, ""), sent, self._shown)

    def _recoded(self, message: Message) -> dict[Key, Recoded]:
        found: dict[Key, Recoded] = {}
        for number, part in enumerate(message.parts):
            if not message.is_result(part) or is_marked(part.text):
                continue
            codecs = self._codecs_for(self._reads.call_of(part))
            shorter = self._cache.codecs.reencode(part.text, self._cache.tokens, codecs)
            if shorter is not None:
                why = f"recoded:{','.join(shorter.by)}"
                found[message.index, number] = Recoded(shorter.text, why)
        return found

    def _codecs_for(self, call: Call | None) -> Sequence[Codec]:
        if call is None or _READS.search(call.name):
            return self._for_files
        return self._for_files if _SHELL_READS.search(call.spelled) else self._codecs
