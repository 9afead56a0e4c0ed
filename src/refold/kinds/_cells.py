"""Finding what went wrong in rows: like records as `refold.codecs` says them.

The names of the cells stand above the rows. Only cells whose name could tell of trouble are looked
at, and each as if it stood beside its name: `status|took` and `failed|12` say `status=failed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from refold.kinds._error_patterns import GRADES, MAY_TELL, PLAIN_FIELD
from refold.kinds.base import Grade

ROWS: Final = "\nrows of "
ROWS_OF: Final = re.compile(rf"(?<=\n){ROWS[1:]}([^\n]*+)(?<=:)\n")
"""The names of the cells below."""
_REST: Final = ", the rest as above:"
_CELL: Final = re.compile(r'(?:"(?:[^"\\\n]++|\\.)*+"|[^|\n]*+)\|?')
_NO_TEXT: Final = re.compile(r"null|true|false|-?[0-9][0-9.eE+-]*+|\[\]|\{\}")


def find_in_rows(text: str) -> Iterator[tuple[int, int, int, Grade]]:
    """Yield the rows that tell of trouble: the place of the cell, where the row starts and ends."""
    heads = list(ROWS_OF.finditer(text))
    for head, below in zip_longest(heads, heads[1:]):
        stop = len(text) if below is None else below.start()
        names = head[1].removesuffix(_REST).removesuffix(":").split("|")
        telling = [name if MAY_TELL.fullmatch(name) else "" for name in names]
        start = head.end()
        while any(telling) and start < stop and text[start] != "]":
            end = text.find("\n", start, stop)
            end = stop if end < 0 else end
            for name, cell in zip(telling, _CELL.finditer(text, start, end), strict=False):
                grade = _judge(name, cell[0].removesuffix("|")) if name else None
                if grade is not None:
                    yield cell.start(), start, end, grade
                    break
            start = end + 1


def _judge(name: str, cell: str) -> Grade | None:
    """Say what a cell tells, if it tells of trouble; after a colon stands what is no text."""
    is_text = not cell.startswith(":") and not _NO_TEXT.fullmatch(cell)
    value = cell.strip('"') or cell if is_text else cell.removeprefix(":")
    found = PLAIN_FIELD.match(f" {name}{'=' if is_text else ':'}{value}")
    return None if found is None else GRADES[found.lastgroup or ""]
