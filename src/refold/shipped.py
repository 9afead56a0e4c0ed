"""The data files that ship with the package."""

from __future__ import annotations

from pkgutil import get_data


def read_shipped(package: str, name: str) -> bytes:
    """Return the content of a file beside the modules of *package*.

    `importlib.resources` would do, but takes longer to load than most files to read.
    """
    content = get_data(package, name)
    assert content is not None, "all loaders of packages can read data"
    return content
