"""What a program loads: nothing that its calls do not need. No clock is asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = frozenset(
    "asyncio concurrent.futures email http importlib.resources logging pathlib sqlite3 ssl "
    "subprocess tempfile".split()
)
"""Each takes longer to load than a small conversation to fold."""
CHAT = """
from refold import compress
chat = [
    {"role": "user", "content": "Which of these tides is the highest? " + "Ebb and flood. " * 90},
    {"role": "assistant", "content": "That of noon."},
    *[{"role": "user", "content": f"And on day {n}?"} for n in range(6)],
]
"""


def run(code: str) -> list[str]:
    """Run *code* in a process of its own; return the words that it prints at its end."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize(
    "code",
    [
        "import refold",
        f"{CHAT}compress(chat)",
        f"{CHAT}compress(chat, token_budget=200)",
        f"{CHAT}result = compress(chat, token_budget=200)\nfrom refold import uncompress\n"
        "uncompress(result)",
        "from refold.cli import main\nmain(['--help'])",
    ],
    ids=["import", "compress", "budget", "uncompress", "help"],
)
def test_nothing_slow_is_loaded_that_is_not_needed(code: str) -> None:
    code = f"import sys\nbefore = set(sys.modules)\n{code}\nprint()\n"
    loaded = run(f"{code}print(*set(sys.modules) - before)")
    assert SLOW.isdisjoint(loaded)


def test_the_help_loads_no_command() -> None:
    loaded = run("import sys\nfrom refold.cli import main\nmain(['--help'])\nprint(*sys.modules)")
    assert [name for name in loaded if name.startswith("refold.cli")] == ["refold.cli"]


def test_few_patterns_are_compiled_for_a_small_conversation() -> None:
    counted = (
        "compress(chat)\nimport gc\nfrom refold.lazy import Regex\n"
        "patterns = [one for one in gc.get_objects() if isinstance(one, Regex)]\n"
        "print(len(patterns), sum('search' in vars(one) for one in patterns))"
    )
    patterns, compiled = map(int, run(f"{CHAT}{counted}"))
    assert 0 < compiled < patterns / 4
