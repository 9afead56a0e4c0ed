"""Sees credentials: the key shapes of known services, and prefixed random tokens in general."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.runs import KEY_RUN
from refold.scan.secret_keys import find_keys
from refold.scan.view import TextView


def _find(view: TextView) -> Iterator[Span]:
    return iter(find_keys(view.text, list(KEY_RUN.spans(view.plain))))


DETECTOR: Final = Detector(
    reason="api_key", hard=True, needs=Needs(shapes="[A-Za-z0-9_-]{20}"), find=_find
)
