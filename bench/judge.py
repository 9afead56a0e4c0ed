"""Ask a real model how well it can go on from a folded past.

A recorded run is cut, its past is folded, and a model reads that, then what really happened next.
Its surprise at the agent's own words is put on a scale: 1 as with the whole past, 0 as with none.
The judge is a script of its own with the steps fold, pack, score and table; this runs them in a row
for the default profile, beside two plain methods. It takes a GPU, or a night.

example:
  python bench/judge.py ../shared/judge/judge.py SmolLM2-135M-Instruct.Q4_1.gguf --cap 20
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refold import compress

Messages = list[dict[str, Any]]


def fold(messages: Messages, budget: int) -> Messages:
    """Fold *messages* as anybody would who names nothing but a budget: what the judge calls."""
    return compress(messages, token_budget=budget, model="gpt-4o").messages


def main(argv: Sequence[str] | None = None) -> int:
    """Run the four steps of the judge."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("judge", type=Path, help="the script")
    parser.add_argument("model", type=Path, help="a GGUF file that it can read")
    parser.add_argument("--cap", type=int, default=20, help="records of each source (20)")
    arguments = parser.parse_args(argv)
    model = ["--gguf", str(arguments.model)]
    with tempfile.TemporaryDirectory() as folder:
        contexts, packed, scores = (f"{folder}/{name}" for name in ("ctx", "packed", "scores"))
        ours = ["--plugin", f"{Path(__file__).resolve()}:fold", "--name", "refold"]
        others = ["--baselines", "obs_mask,keep_last", "--cap", str(arguments.cap)]
        steps: list[list[str]] = [
            ["fold", *ours, *others, "--out", contexts],
            ["pack", contexts, *model, "--out", packed],
            ["score", packed, *model, "--out", scores],
            ["table", scores, "--versus", "refold"],
        ]
        for step in steps:
            done = subprocess.run([sys.executable, str(arguments.judge), *step], check=False)
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
