"""The fidelity kit, wrapped: real runs, their cuts, and what was used after them."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SHARED: Final = Path(__file__).parent.parent.parent / "shared"
_TAGS: Final = re.compile(
    r"\[cce:(?:near-)?dup of \S+ — \d+ chars|\[\d+ messages?\b(?:, shortened)?(?: #[0-9a-z]+)?\]"
    r"|(?:\[\d+% shown[^\n\]#]*)? #[0-9a-z]+\]"
)
"""What stands in our own tags: which message is the same, its length, how many, and a handle."""
_DIALOGUES: Final = 20
"""Dialogues are short and say little each: the kit's two dozen leave nothing but noise."""
SUITES: Final = ("reuse", "reusew", "qa", "facts", "toolout")

Conversation = list[dict[str, Any]]
Record = Mapping[str, Any]
FoldFunction = Callable[[Conversation, int | None], Conversation]
"""Folds messages into a budget of tokens; without one, as small as it sees fit."""


@dataclass(frozen=True, slots=True)
class Kit:
    """The kit's module and its data."""

    module: Any
    data: Path

    def records(self, kinds: set[str], per_source: int) -> list[dict[str, Any]]:
        """Load at most so many records of each source."""
        found: list[dict[str, Any]] = self.module.load(str(self.data), kinds, per_source)
        return found

    def runs(self, per_source: int) -> list[dict[str, Any]]:
        """Load the English runs and chats that the suites `reuse` and `reusew` cut."""
        both = self.records({"trajectory", "chat"}, per_source)
        return [record for record in both if record["lang"] == "en"]

    def cuts(self, messages: Sequence[Any], shares: Sequence[float], min_tokens: int) -> list[int]:
        """Return where to cut a run."""
        found: list[int] = self.module.cut_points(messages, shares, min_tokens)
        return found

    def used_after(self, messages: Sequence[Any], cut: int) -> tuple[set[str], set[str]]:
        """Return the values and the plain words from before *cut* that the agent used after it."""
        values = {needle["v"] for needle in self.module.needles_at(messages, cut)[0]}
        words = {needle["v"] for needle in self.module.word_needles_at(messages, cut)[0]}
        return values, words

    @property
    def methods(self) -> dict[str, FoldFunction]:
        """The kit's own ways to fold, without the one that does nothing."""
        return {name: fold for name, fold in self.module.METHODS.items() if name != "identity"}

    def count(self, text: str) -> int:
        """Return the tokens of a text, as the kit counts them."""
        number: int = self.module.ntok(text)
        return number

    def tokens(self, messages: Sequence[Any]) -> int:
        """Return the tokens of a conversation, as the kit counts them."""
        number: int = self.module.total_tokens(messages)
        return number

    def suite(self, suite: str, per_source: int) -> list[dict[str, Any]]:
        """Load the records of a suite: as many of each source as the kit takes, but more talks."""
        if suite in ("reuse", "reusew"):
            return self.runs(per_source)
        if suite == "facts":
            chats = self.records({"chat"}, _DIALOGUES * per_source)
            return [record for record in chats if record["lang"] != "en"]
        return self.records({suite}, per_source)

    def prepare(self, suite: str, record: Record) -> Record:
        """Find what is looked for in a record, once for all methods."""
        if suite == "qa":
            return {**record, "_qa": self.module.prep_qa(record)}
        if suite not in ("reuse", "reusew"):
            return record
        find = self.module.needles_at if suite == "reuse" else self.module.word_needles_at
        messages = record["messages"]
        cuts = self.module.cut_points(messages)
        return {**record, "_cuts": cuts, "_needles": {cut: find(messages, cut) for cut in cuts}}

    def score(
        self, suite: str, prepared: Record, fold: FoldFunction, shares: Sequence[float | None]
    ) -> list[dict[str, Any]]:
        """Fold a record to each share and score what is left: one row a fold, in their order."""
        name = "reuse" if suite == "reusew" else suite
        run = getattr(self.module, f"run_{name}")
        return [{**row, "suite": suite} for row in run([prepared], fold, shares)]

    def invented_share(
        self, before: Conversation, after: Conversation, *, with_tags: bool
    ) -> float:
        """Return the share of the values in *after* that were never said, as suite `reuse` does.

        The kit cannot know that ids in the tags of our stand-ins, by which originals are found, are
        no claims about anything; here they can be left aside.
        """
        said = "\n".join(map(self.module.full_text, before))
        text = self.module.comp_text(after)
        values = self.module.values_in(text if with_tags else _TAGS.sub("]", text))
        return sum(value not in said for value in values) / max(1, len(values))


def load_kit(shared: Path = SHARED) -> Kit | None:
    """Load the kit, or say loudly that it is not there."""
    path = shared / "evalkit" / "evalkit.py"
    if not path.exists():
        print(f"SKIPPED: no fidelity kit at {path}", file=sys.stderr)
        return None
    spec = importlib.util.spec_from_file_location("evalkit", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as missing:
        print(f"SKIPPED: the fidelity kit needs {missing.name}", file=sys.stderr)
        return None
    return Kit(module, shared / "data")
