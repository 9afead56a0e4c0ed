"""The scripts that write pages of the docs."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def load_script(name: str) -> ModuleType:
    """Import the script of that *name* from the folder of the docs."""
    if str(DOCS) not in sys.path:  # as it is where a script is run
        sys.path.insert(0, str(DOCS))
    return import_module(name)
