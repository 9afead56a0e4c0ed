"""The options that every integration takes, checked and resolved for a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, TypedDict

from refold.conversation.economics import Budget
from refold.options import Options, Pin, Profile, ThinkingWay
from refold.private_files import data_file
from refold.scan.tokens.counter import TokenCounter
from refold.stores.base import Store
from refold.stores.opening import open_store


class Choices(TypedDict, total=False):
    """The keywords of every integration, all of them optional."""

    profile: Profile
    """`standard` (the default), `lossless` or `classic`; see `Options`."""
    token_budget: int | str | None
    """`"auto"` (the default) folds when that pays; see `Session` for the others. System prompt and
    tools are taken off a number; `None` only respells results, without loss."""
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

    def __init__(self, choices: Choices) -> None:
        options: dict[str, Any] = {**choices}
        self._store = options.pop("store", None)
        self.token_budget: int | str | None = options.pop("token_budget", "auto")
        self.summarizer: object = options.pop("summarizer", None)
        self.model: str | None = options.get("model")
        self.options = Options(**options)
        Budget.of(self.token_budget)

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


def missing(package: str, extra: str) -> ImportError:
    """Return the error to raise if *package* is not installed: it says how to install it."""
    return ImportError(
        f"refold.integrations.{extra} is for {package}, which is not installed: "
        f"pip install 'refold[{extra.replace('_', '-')}]'"
    )
