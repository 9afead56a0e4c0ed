"""The attack on patterns finds what is slow, misses no pattern, and nothing breaks under it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.patience import FOR_EVER

pytestmark = pytest.mark.campaign
BENCH = Path(__file__).parents[2] / "bench"


def run(source: str) -> Any:
    """Run some lines with the bench scripts at hand; return what they print last, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\nsys.path.insert(0, {str(BENCH)!r})\n{source}"],
        capture_output=True,
        text=True,
        timeout=FOR_EVER,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


FOLDED = """
from attacks.patterns import fold_views
checks = fold_views(8, 5)
print(json.dumps([[check.tried, check.broken, check.examples] for check in checks]))
"""


def test_nothing_breaks() -> None:
    assert run(FOLDED) == [[8, 0, []], [8, 0, []]]


def test_every_pattern_of_the_sources_is_listed() -> None:
    """The list itself refuses to leave a call site out; here, that it is read as it is used.

    How fast they are is for a quiet machine to say: `make bench`.
    """
    listed, tried = run(
        "from itertools import islice\n"
        "from derived import try_patterns\n"
        "from pattern_list import list_patterns\n"
        "listed = [[one.place, one.pattern, one.asked] for one in list_patterns()]\n"
        "tried = [one.what for one in islice(try_patterns(0, 5), 3)]\n"
        "print(json.dumps([listed, tried]))"
    )
    assert len(listed) > 400
    assert len(tried) == 3
    asked = {place.partition(" ")[2]: how for place, _, how in listed if " _" in place}
    assert asked["_BORDER"] == ["finditer"]
    assert "match" in asked["_HARNESS"]
    places = [place for place, _, _ in listed]
    for room in ("classic/", "codecs/", "fold/kinds.py", "llm/checks.py", "scan/secrets.py"):
        assert any(place.startswith(room) for place in places)


SLOW = {
    "digits": "0+x",
    "two runs of blanks": r"\s*\s*x",
    "an alternative in a repeat": r'"(?:[^"\\]|\\.)*+"',
    "words in a row": r"[A-Z][a-z]+(?: [A-Z][a-z]+)*+(?!\w)",
}


def test_what_is_slow_is_derived_from_the_pattern_itself() -> None:
    """By what the patterns read, not by a clock: the slow inputs of each are known."""
    derived = run(
        "import re\nfrom pattern_inputs import derive\n"
        f"slow = {SLOW!r}\n"
        "made = {n: [one.make(200) for one in derive(re.compile(p))] for n, p in slow.items()}\n"
        "print(json.dumps(made))"
    )
    assert any(text.strip("0") == "" for text in derived["digits"])
    assert any(text.isspace() for text in derived["two runs of blanks"])
    assert any(text.startswith('"\\"\\') for text in derived["an alternative in a repeat"])
    assert any(
        text.count(" ") > 20 and text.endswith(("a", "0")) and text[:1].isupper()
        for text in derived["words in a row"]
    )


def test_what_was_quadratic_once_is_measured() -> None:
    """Whether it is slow today is for the machine that measures it."""
    told = run(
        "from growth import CASES\nprint(json.dumps([len(m(400)) for _, m in CASES.values()]))"
    )
    assert len(told) >= 4
    assert all(told)


def test_growth_is_told_by_the_work_done() -> None:
    """A call that does quadratic work is slow, and one that does linear work is not."""
    told = run(
        "from growth import Growth\n"
        "print(json.dumps([Growth(t).is_slow for t in "
        "((0.01, 0.02, 0.04), (0.01, 0.04, 0.16), (0.0001, 0.0004, 0.0016), (0.9,))]))"
    )
    assert told == [False, True, False, True]
