"""Sees `key: value` lines in a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

_KEY: Final = r"[A-Za-z0-9_-]{1,64}+:"
# Of two key lines in a row the second follows a line feed; a nested one is indented too.
_LATER_KEY: Final = re.compile(rf"\n[ \t]{{0,16}}+{_KEY}(?:[ \t\r\n]|\Z)")
_RUN: Final = re.compile(
    rf"^{_KEY}(?:[ \t]++[^\s][^\n]*+(?:\n{_KEY}[ \t]++[^\s][^\n]*+)++"
    rf"|[ \t]*+\n[ \t]{{1,16}}+{_KEY}(?=[ \t\r\n]|\Z)[^\n]*+)",
    re.MULTILINE,
)
_SENTENCE_END: Final = (".", "!", "?")
_ENOUGH: Final = 3
"""Capitalised labels ("Chair: Anna") are data from this many lines on; two are minutes."""


def _find(view: TextView) -> Iterator[Span]:
    if _LATER_KEY.search(view.text) is None:
        return
    for run in _RUN.finditer(view.text):
        if _is_mapping(run[0]):
            yield run.span()


def _is_mapping(run: str) -> bool:
    """Tell a mapping from minutes and from the turns of a transcript."""
    plain = 0
    labels: list[str] = []
    for line in run.split("\n"):
        key, _, value = line.partition(":")
        plain = 0 if key[:1].isupper() else plain + 1
        # Speakers talk in sentences and come back; the labels of a record do neither.
        talks = value.rstrip().endswith(_SENTENCE_END)
        labels = [] if talks or key in labels else [*labels, key]
        if plain == 2 or len(labels) == _ENOUGH:
            return True
    return False


DETECTOR: Final = Detector(
    reason="yaml_structure", hard=True, needs=Needs(shapes="[A-Za-z0-9_-]:"), find=_find
)
