"""Attack refold's promises, area by area, and count how often one breaks.

    python bench/attack.py                      # everything, in full: minutes
    python bench/attack.py --area handles --scale 0.01

Every module of `bench/attacks` that has `run(scale, seed)` is an area. Exits with 1 if a promise
was broken more often than it allows.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parent))

from table import draw

if TYPE_CHECKING:
    from attacks.base import Area


def find_areas() -> list[str]:
    """Return the names of all areas: the modules that can be run."""
    names = sorted(path.stem for path in (Path(__file__).parent / "attacks").glob("*.py"))
    return [name for name in names if hasattr(import_module(f"attacks.{name}"), "run")]


def run_area(name: str, scale: float, seed: int) -> Area:
    """Run one area, saying so."""
    start = time.perf_counter()
    print(f"{name} …", file=sys.stderr, flush=True)
    area: Area = import_module(f"attacks.{name}").run(scale, seed)
    print(f"{name}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return area


def report(areas: list[Area]) -> bool:
    """Print what was tried and what broke; tell whether every promise holds."""
    rows = [
        (area.name, check.name, check.tried, check.broken, check.allowed_share)
        for area in areas
        for check in area.checks
    ]
    print(draw(("area", "check", "tried", "broken", "allowed share"), rows))
    failed = [(area, check) for area in areas for check in area.checks if not check.holds]
    for area, check in failed:
        print(f"\n{area.name}, {check.name}:")
        for example in check.examples:
            print(f"  {example}")
    return not failed


def main() -> int:
    """Run the areas that were asked for."""
    known = find_areas()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--area", action="append", choices=known, help="one of them; all if none")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full campaign")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chosen = arguments.area or known
    areas = [run_area(name, arguments.scale, arguments.seed) for name in chosen]
    return 0 if report(areas) else 1


if __name__ == "__main__":
    sys.exit(main())
