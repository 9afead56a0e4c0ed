"""Words with which a message decides, corrects or constrains what came before."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Signal(NamedTuple):
    """A way to decide, correct or constrain: how it is found, and words of which it needs one."""

    name: str
    pattern: re.Pattern[str]
    needles: tuple[str, ...]

    def stands_in(self, text: str, lower: str) -> bool:
        """Tell whether it stands in *text*, which is *lower* in lower case.

        Most texts have none of the needles, which is found out much faster. Beyond ASCII there are
        other letters that count as those of the pattern, so there only the pattern can tell.
        """
        if text.isascii():
            for needle in self.needles:
                if needle in lower:
                    break
            else:
                return False
        return self.pattern.search(text) is not None


def _signal(name: str, pattern: str, needles: str) -> Signal:
    return Signal(name, re.compile(pattern, re.I), tuple(needles.split("|")))


DECISION: Final = _signal(
    "decision",
    r"\b(?:must|should|require[ds]?|always|never|do not|don['’]t|instead|rather than|"
    r"the (?:approach|solution|fix|answer) is|decided? to|"
    r"we(?:['’]ll| will) (?:go with|use|implement))\b",
    "must|should|require|always|never|do not|don't|instead|rather than|approach is|solution is|"
    "fix is|answer is|decide|we'll|we will",
)
CORRECTION: Final = _signal(
    "correction",
    r"\b(?:actually|correction|no[,.]?\s(?:use|it['’]s|that['’]s|the)|scratch that|disregard|"
    r"ignore (?:that|my|the previous))\b|\b(?:wait|sorry|instead),"
    r"|\bnot \w+[,.]?\s(?:but|use|it['’]s)\b",
    "actually|correction|no,|no.|no |no\n|no\t|no\r|no\v|no\f|no\x1c|no\x1d|no\x1e|no\x1f|"
    "scratch that|disregard|ignore |wait,|sorry,|instead,|not ",
)
CONSTRAINT: Final = _signal(
    "constraint",
    r"\b(?:constraint|limitation|boundary|deadline|blocker|requirement|prerequisite|dependency|"
    r"breaking change|backwards? compat)",
    "constraint|limitation|boundary|deadline|blocker|requirement|prerequisite|dependency|"
    "breaking change|backward",
)
_MAX_SIGNALS: Final = 0.4
"""Words alone do not make a message important: the rest of the score is how often others refer to
it."""


def score_signals(text: str) -> float:
    """Return how strongly *text* decides, corrects or constrains, from 0 to 0.4."""
    lower = text.lower()
    score = (
        0.15 * DECISION.stands_in(text, lower)
        + 0.25 * CORRECTION.stands_in(text, lower)
        + 0.10 * CONSTRAINT.stands_in(text, lower)
    )
    return min(_MAX_SIGNALS, score)


_X: Final = r"\s[\w'-]{1,40}"
CORRECTION_SIGNALS: Final[tuple[Signal, ...]] = (
    _signal("explicit_correction", r"\b(?:actually|correction)[,.:]", "actually|correction"),
    _signal(
        "negation_directive",
        r"\bno[,.]?\s{1,4}(?:use|it['’]s|that['’]s|it should|we should)\b",
        "use|it's|that's|it should|we should",
    ),
    _signal(
        "instead_directive",
        r"\b(?:instead|rather)[,.]?\s{1,4}(?:use|do|we|you)\b",
        "instead|rather",
    ),
    _signal(
        "retraction",
        # A bare "ignore" is an ordinary verb: "should ignore upper and lower case".
        r"\bscratch that\b|\bdisregard\b|\bignore (?:that|this|what i|my (?:last|previous|"
        r"earlier)|the (?:previous|last|earlier|above))\b",
        "scratch that|disregard|ignore ",
    ),
    _signal("dont_directive", r"\bdon['’]?t\s{1,4}(?:use|do|add|include|import)\b", "don't|dont"),
    _signal("not_but_pattern", rf"\bnot{_X}[,.;]?\s{{1,4}}(?:but|use|go with)\b", "not"),
    _signal("wait_correction", r"\bwait[,.]\s", "wait,|wait."),
    _signal("sorry_correction", r"\bsorry[,.]\s{1,4}(?:i|that|the)\b", "sorry"),
    _signal("self_correction", r"\bi was wrong\b", "i was wrong"),
    _signal("rephrase", r"\blet me (?:correct|rephrase|clarify)\b", "let me "),
)


def correction_signal(text: str) -> str | None:
    """Return the name of the first way in which *text* corrects something said before."""
    lower = text.lower()
    for signal in CORRECTION_SIGNALS:
        if signal.stands_in(text, lower):
            return signal.name
    return None
