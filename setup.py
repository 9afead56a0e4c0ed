"""Build refold, with its scanner in C where there is a compiler.

Everything runs as plain Python, which says what is right; the scanner in `csrc/` says the same,
sooner. Without a compiler, or with `REFOLD_COMPILE=0`, it is left out; `REFOLD_COMPILE=1` fails if
it cannot be built.
"""

from __future__ import annotations

import os
from pathlib import Path

from setuptools import Extension, setup

CHOICE = os.environ.get("REFOLD_COMPILE", "")

SCANNER = Extension(
    "refold._scan",
    sources=sorted(map(str, Path("csrc").glob("*.c"))),
    depends=sorted(map(str, Path("csrc").glob("*.h"))),
    # Functions that nobody else can see or replace may be inlined.
    extra_compile_args=[] if os.name == "nt" else ["-O3", "-fvisibility=hidden"],
    optional=CHOICE != "1",  # then a failure is a warning, and plain Python does the work
)

setup(ext_modules=[] if CHOICE == "0" else [SCANNER])
