"""The public face: few names, loaded when they are used, each with something to read."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import refold
from refold import errors

LOADED = """
import sys
before = set(sys.modules)
import refold
print(*sorted(name for name in set(sys.modules) - before if name.startswith("refold")))
"""


def test_importing_refold_loads_nothing_else() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["refold"]


def test_there_are_about_thirty_names_and_each_is_there() -> None:
    assert 25 <= len(refold.__all__) <= 35
    assert len(set(refold.__all__)) == len(refold.__all__)
    assert dir(refold) == sorted(refold.__all__)


@pytest.mark.parametrize("name", [name for name in refold.__all__ if not name.isupper()])
def test_each_says_what_it_is(name: str) -> None:
    assert inspect.getdoc(getattr(refold, name))


def test_a_name_that_is_not_there_is_missed() -> None:
    with pytest.raises(AttributeError, match="no attribute 'unfold'"):
        refold.unfold  # noqa: B018


def test_every_error_is_a_refold_error_and_in_its_tree() -> None:
    found = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    kinds = [kind for kind in found if kind.__module__ == errors.__name__]
    assert all(issubclass(kind, errors.RefoldError) for kind in kinds)
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in kinds)
