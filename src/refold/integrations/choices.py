"""The options that every integration takes, checked and resolved for a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Final, TypedDict

from refold.checks import check_whole
from refold.conversation.models import DEFAULT_REGISTRY, WindowRegistry
from refold.errors import ConfigError
from refold.options import Options, Pin, Profile, ThinkingWay
from refold.private_files import data_file
from refold.scan.tokens.counter import TokenCounter
from refold.stores.base import Store
from refold.stores.opening import open_store

WINDOW_SHARE: Final = 0.6
"""The share of a window that a conversation gets: the rest is for the answer, the tools, and what a
turn may add before it can be folded."""


class Choices(TypedDict, total=False):
    """What every integration takes: keywords, all of them optional."""

    profile: Profile
    """`standard` (the default), `lossless` or `classic`; see `Options`."""
    token_budget: int | None
    """The tokens that a conversation gets, system prompt and tools included."""
    window_share: float
    """Without a budget: the share of the model's window that a conversation gets."""
    registry: WindowRegistry
    """Where the context windows of models are looked up."""
    model: str | None
    """The name of the model, if the framework does not know it or has another name for it."""
    store: Store | str | os.PathLike[str] | None
    """Where originals are kept, or its address; by default a file in the user's data folder."""
    thinking: ThinkingWay
    """What happens to thinking after a changed message; see `Options`."""
    counter: TokenCounter | None
    """Counts the tokens of a text."""
    pins: Sequence[Pin]
    """Messages that stay word for word; see `Options`."""
    summarizer: object
    """A model that may write summaries; see `Session`."""


class CheckedChoices:
    """The options of one integration, checked; the store is opened when it is first needed."""

    def __init__(self, choices: Choices, **own: Any) -> None:
        """Check the *choices* of a user, overridden by the integration's *own*."""
        given: dict[str, Any] = {**choices, **own}
        self._store = given.pop("store", None)
        self.window_share: float = given.pop("window_share", WINDOW_SHARE)
        self.registry: WindowRegistry = given.pop("registry", DEFAULT_REGISTRY)
        self.token_budget: int | None = given.pop("token_budget", None)
        self.summarizer: object = given.pop("summarizer", None)
        self.model: str | None = given.get("model")
        self.options = Options(**given)
        if not 0 < self.window_share <= 1:
            problem = f"must be above 0 and at most 1, got {self.window_share!r}"
            raise ConfigError(f"window_share {problem}")
        if self.token_budget is not None:
            check_whole("token_budget", self.token_budget, least=1)

    @property
    def store(self) -> Store:
        """Where originals are kept."""
        if self._store is None:
            path = data_file(sys.platform, os.environ)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._store = path
        if isinstance(self._store, str | os.PathLike):
            self._store = open_store(self._store)
        store: Store = self._store
        return store

    def budget_for(self, model: str | None) -> int | None:
        """Return the budget of a conversation with *model*; `None` if its window is unknown."""
        if self.token_budget is not None or model is None:
            return self.token_budget
        window = self.registry.find(model)
        if window is None:
            return None
        return int(self.window_share * (window.max_input_tokens or window.context_tokens))


def missing(package: str, extra: str) -> ImportError:
    """Return the error to raise if *package* is not installed: it says how to install it."""
    return ImportError(
        f"refold.integrations.{extra} is for {package}, which is not installed: "
        f"pip install 'refold[{extra.replace('_', '-')}]'"
    )
