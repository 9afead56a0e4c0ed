r"""Sees TeX formulas between dollar signs: $x+1$ and $$ \sum x $$, but no prices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

# The inline form keeps to the rule of Markdown tools: no blank inside the signs, and no letter or
# digit after the closing one. That alone rejects "$5 or $12" and "$HOME/$USER".
# A shell writes `${NAME}` and `${NAME:-x}`.
_DOLLARS: Final = re.compile(
    r"\$\$(?P<display>[^$]++)\$\$|\$(?P<inline>(?=\S)(?!\{\w{1,64}+[}:])[^$\n]{1,400}+(?<=\S))"
    r"\$(?![\w({])"
)
_OPERATOR: Final = re.compile(r"\\[A-Za-z]|[\^_=+<>]")
_WORD: Final = re.compile(r"[^\W\d_]{3}")
_LETTER: Final = re.compile(r"[^\W\d_]")


def _find(view: TextView) -> Iterator[Span]:
    text = view.text
    found = _DOLLARS.search(text)
    while found is not None:
        if _is_formula(found["display"] or found["inline"]):
            yield found.span()
            found = _DOLLARS.search(text, found.end())
        else:
            # The sign that closed this pair may open the next one.
            found = _DOLLARS.search(text, found.end() - 1)


def _is_formula(inside: str) -> bool:
    """Tell formulas from words: an operator, or letters that form no word ("x", "2a/b")."""
    if _OPERATOR.search(inside):
        return True
    return _LETTER.search(inside) is not None and _WORD.search(inside) is None


DETECTOR: Final = Detector(reason="latex_math", hard=True, needs=Needs(shapes=r"\$"), find=_find)
