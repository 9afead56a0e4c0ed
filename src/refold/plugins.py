"""Plugins: rows that installed packages add to refold's tables, loaded only on request.

A package offers a detector as an entry point in the group `refold.detectors`, and codecs, kinds of
results and rules in the groups `refold.codecs`, `refold.kinds` and `refold.rules`:

    [project.entry-points."refold.detectors"]
    ticket = "acme_refold:TICKET"

`Compressor(**load_plugins())` uses them along with refold's own.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from types import FunctionType
from typing import TypedDict, TypeVar

from refold.codecs import CODECS, Codec
from refold.detectors import DETECTORS, Detector
from refold.errors import ConfigError, describe
from refold.kinds import KINDS, Kind
from refold.plan.rules import RULES, Rule
from refold.plan.tables import Tables

T = TypeVar("T")


class Plugins(TypedDict):
    """The tables, as keywords of `Compressor`, `Session` and `compress`."""

    detectors: tuple[Detector, ...]
    codecs: tuple[Codec, ...]
    kinds: tuple[Kind, ...]
    rules: tuple[Rule, ...]


def load_plugins() -> Plugins:
    """Return refold's tables with the rows that installed packages add, sorted by name.

        compressor = Compressor(token_budget=8_000, **load_plugins())

    Added kinds and rules come before refold's own, since the first one that applies decides.
    Importing refold never loads plugins: code of other packages runs only when this is called.

    Raises `ConfigError`, naming the package, for a plugin that cannot be loaded or has the wrong
    type, and for two with the same name.
    """
    found: Plugins = {
        "detectors": (*DETECTORS, *_load_all("refold.detectors", Detector)),
        "codecs": (*CODECS, *_load_all("refold.codecs", Codec)),
        "kinds": (*_load_all("refold.kinds", Kind), *KINDS),
        "rules": (*_load_all("refold.rules", FunctionType), *RULES),
    }
    Tables.of(detectors=found["detectors"], codecs=found["codecs"], kinds=found["kinds"])
    return found


def _load_all(group: str, kind: type[T]) -> list[T]:
    found = sorted(entry_points(group=group), key=lambda entry: entry.name)
    return [_load(entry, kind) for entry in found]


def _load(entry: EntryPoint, kind: type[T]) -> T:
    try:
        loaded = entry.load()
    except Exception as error:
        raise ConfigError(f"plugin {entry.value!r} cannot be loaded: {describe(error)}") from error
    if not isinstance(loaded, kind):
        raise ConfigError(f"plugin {entry.value!r} must be a {kind.__name__}, got {loaded!r}")
    return loaded
