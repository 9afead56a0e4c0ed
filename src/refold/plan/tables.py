"""The tables that folding goes by: refold's own rows, or what a caller chose instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, Self

from refold.classic.detectors import TABLE as DETECTORS
from refold.classic.detectors import Detector, DetectorTable
from refold.classic.detectors import table_of as detectors_of
from refold.classic.rules import Rule
from refold.codecs import TABLE as CODECS
from refold.codecs import Codec, CodecTable
from refold.codecs import table_of as codecs_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What texts are looked at with, and what decides about them."""

    detectors: DetectorTable = DETECTORS
    codecs: CodecTable = CODECS
    rules: tuple[Rule, ...] | None = None
    """Refold's own if there are none."""

    @classmethod
    def of(
        cls,
        *,
        detectors: Sequence[Detector] | None = None,
        codecs: Sequence[Codec] | None = None,
        rules: tuple[Rule, ...] | None = None,
    ) -> Self:
        """Check what a caller chose; what is `None` is refold's own.

        Raises `ConfigError` for what is no table of its kind.
        """
        return cls(
            detectors=detectors_of(detectors),
            codecs=codecs_of(codecs),
            rules=rules,
        )

    @property
    def chosen(self) -> list[str]:
        """The names of those that are not refold's own."""
        names = [field.name for field in fields(self)]
        return [n for n in names if getattr(self, n) is not getattr(OWN_TABLES, n)]


OWN_TABLES: Final = Tables()
