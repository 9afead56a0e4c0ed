"""Stand-ins of one's own conversation that are pasted into it again, with all that they carry.

Views are folded over and over, by everything that folds; between two folds somebody pastes what an
earlier view has shown, with its id and its provenance or without, when it is long out of view.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from attacks.base import Area, Check
from attacks.reports import talk as reports
from attacks.talks import talk as errands
from refold import (
    ContextWindowManager,
    MemoryStore,
    MessageError,
    Session,
    UncompressResult,
    compress,
    uncompress,
)
from refold.messages.wire import clone
from refold.options import Profile

_TRIES = 1_000
_BUDGETS: Final = (None, 60, 120, 300, 600)
_LIMITS: Final = (200, 400, 800, 1_600)
_PROFILES: Final[tuple[Profile, ...]] = ("classic", "standard", "standard", "lossless")

Wire = dict[str, Any]


class Talk:
    """One conversation: what was said, and what is shown of it."""

    def __init__(self, way: str, seed: str) -> None:
        self.random = Random(f"paste/{way}/{seed}")
        self.way = way
        self.name = self.random.choice((None, "desk"))
        self.store = self.random.choice((None, MemoryStore(), MemoryStore()))
        self.verbatim: dict[str, Any] = {}
        self.said: list[Wire] = []
        self.view: list[Wire] = []
        self.session: Session[Wire] | None = None
        self._dress = self.random.choice(("id", "metadata", "none", "both", "mixed"))
        self._count = 0
        """Messages that were made: ids are never given twice."""
        self._shown: list[tuple[Wire, int]] = []
        """Stand-ins that were shown, and how much had been said then."""
        self._views: list[list[Wire]] = []
        made = reports if self.random.random() < 0.5 else _short_errands
        self._say(made(self.random, self.random.randint(3, 12)))

    def _say(self, messages: list[Wire]) -> None:
        """Add messages at the end, dressed like all the others."""
        for message in messages:
            self._count += 1
            number, dress = self._count, self._dress
            if dress == "mixed":
                dress = self.random.choice(("id", "metadata", "none", "both"))
            dressed = dict(message)
            if dress in ("id", "both"):
                dressed["id"] = f"m{number}"
            if dress in ("metadata", "both"):
                dressed["metadata"] = self.random.choice(({}, {"number": number}))
            self._add(dressed)

    def _add(self, message: Wire) -> None:
        self.said.append(message)
        self.view.append(clone(message))
        if self.session is not None:
            self.session.append(message)

    def fold(self) -> bool:
        """Show another view; tell whether all of it is there: a small window may drop some."""
        way = (
            self.way if self.way != "all" else self.random.choice(("compress", "session", "window"))
        )
        if way != "session":
            self.session = None
        window = self.random.choice((0, 0, 1, 3))
        budget, profile = self.random.choice(_BUDGETS), self.random.choice(_PROFILES)
        choices: Any = {"store": self.store, "conversation": self.name}
        if way == "compress":
            folded = compress(
                self.view, recency_window=window, token_budget=budget, profile=profile, **choices
            )
            self.view, kept = folded.messages, folded.verbatim
        elif way == "session":
            if self.session is None or self.random.random() < 0.3:
                self.session = Session(recency_window=window, profile=profile, **choices)
                self.session.extend(self.view)
            self.view, kept = clone(self.session.view(budget)), self.session.verbatim
        else:
            limit = self.random.choice(_LIMITS)
            fitted = ContextWindowManager(
                context_limit=limit, reserve_output_tokens=50, **choices
            ).fit(self.view)
            self.view, kept = fitted.messages, fitted.verbatim
            if fitted.dropped_ids:
                return False
        self.verbatim |= kept
        self._views.append([_bare(message) for message in self.view])
        for length, message in enumerate(self.view, 1):
            if message not in self.said:
                self._shown.append((clone(message), len(self.unfolded(length).messages)))
        return True

    def unfolded(self, length: int | None = None) -> UncompressResult[Wire]:
        """Return what comes back of a view, or of how it begins."""
        known = self.verbatim if self.store is None else self.store
        return uncompress(self.view[:length], known, conversation=self.name)

    def cut(self) -> None:
        """Go back to an earlier place, as who edits a question does."""
        length = self.random.randint(1, len(self.view))
        self.said = self.unfolded(length).messages
        self.view, self.session = self.view[:length], None
        self._shown = [entry for entry in self._shown if entry[1] <= len(self.said)]

    def paste(self) -> None:
        """Say something, or paste what was shown before: whole, or without some of it."""
        if not self._shown or self.random.random() < 0.3:
            self._say(reports(self.random, 1))
            return
        copy = clone(self.random.choice(self._shown)[0])
        if copy.get("role") == "tool" or copy.get("tool_calls"):
            return  # nobody types these
        change = self.random.choice(("none", "none", "id", "no id", "no metadata", "role"))
        if change in ("id", "no id"):
            copy.pop("id", None)
        if change == "id":
            copy["id"] = f"x{self.random.random()}"
        if change == "no metadata":
            copy.pop("metadata", None)
        if change == "role" and set(copy) <= {"role", "content", "id", "metadata"}:
            copy["role"] = "user"
        begun = [_bare(message) for message in (*self.view, copy)]
        if any(view[: len(begun)] == begun for view in self._views):
            return  # word for word the beginning of a view: nothing tells the two apart
        if copy.get("id") not in {message["id"] for message in self.said if "id" in message}:
            self._add(copy)  # there is one message with an id


def _bare(message: Wire) -> Wire:
    return {key: value for key, value in message.items() if key not in ("id", "metadata")}


def _short_errands(random: Random, count: int) -> list[Wire]:
    return errands(random, count, chars=300)


def _is_broken(talk: Talk) -> bool:
    """Fold and paste a few times; tell whether what was said does not come back once."""
    for _ in range(talk.random.randint(2, 5)):
        if not talk.fold():
            return False
        back = talk.unfolded()
        if back.messages != talk.said or back.missing_ids:
            return True
        if talk.session is None and talk.random.random() < 0.25:
            talk.cut()
        try:
            for _ in range(talk.random.randint(1, 3)):
                talk.paste()
        except MessageError:  # a session knows ids that are out of view
            return False
        if talk.unfolded().messages != talk.said:
            return True
    return False


def run(scale: float, seed: int) -> Area:
    """Fold, paste and fold again; whatever was said and pasted must come back as it was."""
    checks: list[Check] = []
    for way in ("compress", "session", "window", "all"):
        check = Check(f"pasted with all it carries: {way}")
        for number in range(max(5, int(scale * _TRIES))):
            talk = Talk(way, f"{seed}/{number}")
            check.record(_is_broken(talk), f"conversation {number}: {talk.view!r}")
        checks.append(check)
    return Area("paste", checks)
