"""What is installed has every file that the code reads."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "refold"


def test_data_files_are_packaged() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["refold"]
    packaged = {pattern: set(PACKAGE.glob(pattern)) for pattern in patterns}
    data = {
        path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert data - set().union(*packaged.values()) == set(), "not in package-data"
    assert [pattern for pattern, files in packaged.items() if not files] == [], "without a file"
