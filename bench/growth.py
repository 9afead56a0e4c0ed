"""How the CPU time of a call grows with the size of its input, told from the noise of a machine.

Run as a program it measures what was quadratic once, and fails if anything is again.

example:
  python bench/growth.py
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from refold import Session, compress
from refold.llm.checks import Source, check, complete
from refold.scan.tokens.estimate import estimate_tokens

SIZES: Final = (20_000, 40_000, 80_000)
MAX_GROWTH: Final = 2.5
"""The most that a time may grow by when the input doubles; 2 is linear, 4 is quadratic."""
_NOISE_S: Final = 0.005
"""Times below this say more about the machine than about the code."""
_GLANCE: Final = 20_000
_GLANCE_SHARE: Final = 4
"""How much shorter the other text is that is glanced at."""
_SUSPECT_GROWTH: Final = 6.0
_SUSPECT_S: Final = 0.001
"""What takes about four times as much for four times the input, or next to nothing, is not looked
at: quadratic time is sixteen times as much."""
_LOOKS: Final = 5
_SECOND_LOOKS: Final = 2
"""How often what seems to be slow is looked at again."""
_SHORT_S: Final = 0.1
_PATIENCE_S: Final = 0.5
"""What takes longer at one size is timed once at the next; or that is not tried at all."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a call took at its sizes, the best of several times."""

    seconds: tuple[float, ...]

    @property
    def factor(self) -> float:
        """By how much the time grew when the input doubled, the mean over all sizes."""
        first, last = self.seconds[0], self.seconds[-1]
        doublings = len(self.seconds) - 1
        return (last / first) ** (1 / doublings) if doublings and last > _NOISE_S else 0.0

    @property
    def is_slow(self) -> bool:
        """Whether it grew faster than linear time allows, or was too slow to be seen growing."""
        return self.factor > MAX_GROWTH or self.seconds[0] > _PATIENCE_S


def measure(
    call: Callable[[str], object], make: Callable[[int], str], *, glance: int = _GLANCE
) -> Growth | None:
    """Return how the time of *call* grows; `None` where a *glance* at so much shows it does not.

    Only the CPU time of this process counts, and of several looks the least: other programs only
    ever add to it.
    """
    large = _time(call, make(glance))
    if large < _SUSPECT_S or large < _SUSPECT_GROWTH * _time(call, make(glance // _GLANCE_SHARE)):
        return None
    texts = [make(size) for size in SIZES]
    growth = Growth(_look(call, texts))
    for _ in range(_SECOND_LOOKS):
        if not growth.is_slow:
            break
        again = _look(call, texts)
        growth = Growth(tuple(map(min, growth.seconds, again)))
    return growth


def _look(call: Callable[[str], object], texts: list[str]) -> tuple[float, ...]:
    """Return the best time for each text, as far as patience goes."""
    best: list[float] = []
    looks = _LOOKS
    for text in texts:
        best.append(min(_time(call, text) for _ in range(looks)))
        if best[-1] > _PATIENCE_S:
            break
        looks = 1 if best[-1] > _SHORT_S else _LOOKS
    return tuple(best)


def _time(call: Callable[[str], object], text: str) -> float:
    gc.disable()  # it would look at all that lives, in one of the calls
    try:
        began = time.process_time()
        call(text)
        return time.process_time() - began
    finally:
        gc.enable()


def _names(size: int) -> str:
    """Make a text of that many characters in which every third word is another name."""
    letters = "abcdefghij"
    parts = ("".join(letters[int(digit)] for digit in f"{n:06}") for n in range(size // 18))
    return " ".join(f"{name.capitalize()} met them at" for name in parts)[:size]


def _fold_prose(text: str, **choices: Any) -> None:
    talk = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Yes."}]
    compress([talk[0], {"role": "assistant", "content": text}, *talk * 3], **choices)


def _results(size: int) -> str:
    return "\n".join(f"result {n}: {'crate and ferry ' * 6}" for n in range(size // 108))


def _look_at_each(text: str, **choices: Any) -> None:
    """Let the lines of *text* come in as results of parallel calls, and look after each."""
    lines = text.splitlines()
    function = {"name": "read", "arguments": "{}"}
    calls = [{"id": f"c{n}", "type": "function", "function": function} for n in range(len(lines))]
    session = Session(**choices)
    session.append({"role": "user", "content": "Read all of them."})
    session.append({"role": "assistant", "content": None, "tool_calls": calls})
    for n, line in enumerate(lines):
        session.append({"role": "tool", "tool_call_id": f"c{n}", "content": line})
        session.view()


def _check_half(text: str) -> None:
    """Check the first half of *text* as an answer to it."""
    source = Source(f"{text} and so on", estimate_tokens)
    answer = text[: len(text) // 2]
    complete(source, answer, check(source, answer))


def _repeated(piece: str) -> Callable[[int], str]:
    return lambda size: (piece * size)[:size]


CASES: Final[Mapping[str, tuple[Callable[..., object], Callable[[int], str]]]] = {
    "names in prose": (_fold_prose, _names),
    "names in prose, classic": (lambda text: _fold_prose(text, profile="classic"), _names),
    "parallel results": (lambda text: _look_at_each(text, token_budget=2_000), _results),
    "parallel results, no budget": (_look_at_each, _results),
    "answers of brackets": (_check_half, _repeated("[.")),
    "answers of numbers": (_check_half, _repeated("1 2 ")),
    "answers of quotations": (_check_half, _repeated('"a" "b" ')),
    "answers of negations": (_check_half, _repeated("do not go. ")),
}


def main() -> int:
    """Measure every case; return how many grow too fast."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    slow = 0
    for name, (call, make) in CASES.items():
        growth = measure(call, make) or Growth((0.0,))
        slow += growth.is_slow
        shown = " / ".join(f"{1000 * taken:.0f} ms" for taken in growth.seconds)
        print(f"{name:30}{shown}{'  grows too fast' if growth.is_slow else ''}")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
