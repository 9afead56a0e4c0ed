"""What installed packages add to refold: looked for only where somebody asks for it.

A package offers a detector as an entry point of the group `refold.detectors`:

    [project.entry-points."refold.detectors"]
    ticket = "acme_refold:TICKET"

and `Compressor(**load_plugins())` uses it beside refold's own.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TypedDict

from refold.detectors import DETECTORS, Detector, table_of
from refold.errors import ConfigError, describe


class Plugins(TypedDict):
    """What `Compressor`, `Session` and `compress` take as keywords."""

    detectors: tuple[Detector, ...]


def load_plugins() -> Plugins:
    """Return refold's own tables with what installed packages add, in the order of their names.

    Importing refold never looks for plugins: code of other packages runs only where this is called.

        compressor = Compressor(token_budget=8_000, **load_plugins())

    Raises `ConfigError`, naming the package, for one that cannot be loaded or is no detector.
    """
    found = sorted(entry_points(group="refold.detectors"), key=lambda entry: entry.name)
    detectors = (*DETECTORS, *map(_load, found))
    table_of(detectors)  # two of the same name could not be told apart
    return {"detectors": detectors}


def _load(entry: EntryPoint) -> Detector:
    try:
        loaded = entry.load()
    except Exception as error:
        raise ConfigError(f"plugin {entry.value!r} cannot be loaded: {describe(error)}") from error
    if not isinstance(loaded, Detector):
        raise ConfigError(f"plugin {entry.value!r} must be a Detector, got {loaded!r}")
    return loaded
