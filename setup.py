"""Build refold, with its hot modules compiled where that can be done.

Everything runs as plain Python. When there is a C compiler, the modules in COMPILED are compiled
with mypyc as well, from the very same sources, and so is the scanner in `csrc/`: plain Python is
the form that says what is right, the compiled one says the same, sooner. `REFOLD_COMPILE=0` leaves
them alone, `REFOLD_COMPILE=1` takes no excuse. An editable install is never compiled: a compiled
module would hide every later edit.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

COMPILED = (
    "detectors/*.py",
    "flow.py",
    "formats/*.py",
    "model/*.py",
    "notation/*.py",
    "quality/*.py",
    "render.py",
    "restore.py",
    "scoring/*.py",
    "stages/*.py",
    "strategies/*.py",
    "text/*.py",
    "tokens/base.py",
    "tokens/counter.py",
    "tokens/estimate.py",
)
"""The modules of the pipeline, as globs below the package."""
LEFT_OUT = frozenset(
    {
        "model/__init__.py",
        "notation/__init__.py",
        "quality/__init__.py",
        "scoring/__init__.py",
        "strategies/__init__.py",
        "text/__init__.py",
    }
)
"""Modules in which there is nothing to compile."""

PACKAGE = Path("src", "refold")
SCANNER = Path("csrc")
MYPYC = "mypy>=2.4"
HIDDEN = "-fvisibility=hidden"
"""Functions that nobody else can see or replace may be inlined, and are called directly."""
CHOICE = os.environ.get("REFOLD_COMPILE", "")


def can_compile() -> bool:
    """Tell whether a C compiler seems to be there; on Windows only trying would tell."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    return os.name == "nt" or bool(command and shutil.which(shlex.split(command)[0]))


IS_DEMANDED = CHOICE == "1"
IS_WANTED = IS_DEMANDED or (CHOICE != "0" and can_compile())


def sources() -> list[str]:
    """Name the files to compile, always in the same order."""
    found = {file for pattern in COMPILED for file in PACKAGE.glob(pattern)}
    return sorted(str(f) for f in found if f.relative_to(PACKAGE).as_posix() not in LEFT_OUT)


def extensions() -> list[Extension]:
    """Translate the modules to C, or return nothing if that is not wanted or cannot be done."""
    if not IS_WANTED or "editable_wheel" in sys.argv or "bdist_wheel" not in sys.argv:
        return []
    try:
        from mypyc.build import mypycify

        # Types are checked by `make lint`, where everything that is imported is installed.
        options = [
            "--ignore-missing-imports",
            "--follow-imports=silent",
            "--no-warn-unused-ignores",
        ]
        made: list[Extension] = mypycify([*options, *sources()], opt_level="3", debug_level="0")
    except (ImportError, SystemExit) as error:  # mypyc ends the process when it gives up
        if IS_DEMANDED:
            raise
        print(f"not compiled, plain Python it is: {error}", file=sys.stderr)
        return []
    made.append(scanner())
    if os.name != "nt":  # there, nothing can be seen from outside anyway
        for extension in made:
            extension.extra_compile_args = [*extension.extra_compile_args, HIDDEN]
    return made


def scanner() -> Extension:
    """Describe the part that is written in C."""
    files = sorted(map(str, SCANNER.glob("*.c")))
    arguments = [] if os.name == "nt" else ["-O3"]
    return Extension("refold._scan", files, extra_compile_args=arguments)


class AllOrNothing(build_ext):
    """Builds every extension or none: half of them could not be imported."""

    def run(self) -> None:
        """Compile; if that fails and nobody insisted, leave the sources alone."""
        try:
            super().run()
        except Exception as error:
            if IS_DEMANDED:
                raise
            self.warn(f"not compiled, plain Python it is: {error}")
            for output in self.get_outputs():
                Path(output).unlink(missing_ok=True)
            self.extensions = []


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": AllOrNothing},
    setup_requires=[MYPYC] if IS_WANTED else [],
)
