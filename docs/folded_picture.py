"""Draw a run before and after folding: which messages become which, as an SVG for the README.

Of a long message before, the picture has only the first lines and says so; the fold it shows whole.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from folded_runs import Message, fold, spell

from refold.report.turns import align

TITLE: Final = "A return and a cancellation"
_CHARS: Final = 56
"""On a line; each is `_CHAR` pixels wide, or less, in the fonts that browsers have."""
_CHAR, _LINE, _PAD, _GAP = 7.25, 17, 14, 7
_COLUMN: Final = round(_CHARS * _CHAR) + 2 * _PAD
_BETWEEN: Final = 72
_TOP: Final = 64
_MAX_LINES: Final = 3
"""Of a message before."""
_MORE: Final = re.compile(r"  … \d+ more lines")
_COLOURED: Final = re.compile(
    r"^(?P<who>user|assistant|tool)(?=:| calls )|\[[^]]*#[a-z]{5,}\]|^… .* …$| …$"
)
_STYLE: Final = """
text { font: 12px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  white-space: pre; fill: #1f2328 }
.head { font: 600 17px system-ui, -apple-system, "Segoe UI", sans-serif }
.note { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #59616b }
.saved, .mark { fill: #1a7f45 } .mark { font-weight: 600 }
.more { fill: #6e7781; font-style: italic }
.card { fill: #ffffff; stroke: #d8dde3 } .track { fill: #e6e9ed } .full { fill: #8c959f }
.user { fill: #0a5fb4 } .assistant { fill: #6f42c1 } .tool { fill: #b35900 }
tspan.user, tspan.assistant, tspan.tool { font-weight: 600 } .ribbon { opacity: .16 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .note, .more { fill: #9198a1 } .saved, .mark { fill: #56d384 }
  .card { fill: #161b22; stroke: #30363d } .track { fill: #30363d } .full { fill: #7d8590 }
  .user { fill: #6cb0ff } .assistant { fill: #c297ff } .tool { fill: #f0a35e }
  .ribbon { opacity: .2 }
}"""


class Block(NamedTuple):
    """A message in lines, and how far down it stands."""

    role: str
    lines: list[str]
    top: int

    @property
    def bottom(self) -> int:
        """Where the next one may begin."""
        return self.top + _LINE * len(self.lines) + _GAP


def make_picture() -> str:
    """Return the whole picture."""
    run, result = fold(TITLE)
    before = _stack([(message, _shorten(_wrap(message))) for message in run])
    after = _stack([(message, _wrap(message)) for message in result.messages])
    places = [place for place, _ in align(run, result)]
    height = max(before[-1].bottom, after[-1].bottom) + _PAD
    width, right = 2 * _COLUMN + _BETWEEN, _COLUMN + _BETWEEN
    tokens = result.tokens_before, result.tokens_after
    title = f"Before: {tokens[0]:,} tokens. After: {tokens[1]:,} tokens."
    saved = f"−{1 - tokens[1] / tokens[0]:.0%}".replace("%", " %")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {width + 2} {height + 2}" '
            f'width="{width + 2}" height="{height + 2}" role="img" aria-label="{title}">',
            f"<style>{_STYLE}</style>",
            *_draw_card(0, height, "Before", f"{tokens[0]:,} tokens", 1.0),
            *_draw_card(right, height, "After", f"{tokens[1]:,} tokens", tokens[1] / tokens[0]),
            f'<text class="head saved" x="{width - _PAD}" y="30" text-anchor="end">{saved}</text>',
            *_draw_ribbons(before, after, places),
            *(line for block in before for line in _draw_block(0, block)),
            *(line for block in after for line in _draw_block(right, block)),
            "</svg>\n",
        ]
    )


def _wrap(message: Message) -> list[str]:
    """Break the lines of a message where the column ends."""
    return [
        line
        for said in spell(message).splitlines()
        for line in textwrap.wrap(said, _CHARS, subsequent_indent="  ", drop_whitespace=False)
        or [""]
    ]


def _shorten(lines: list[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    if len(lines) <= _MAX_LINES:
        return lines
    kept = [line for line in lines if line.strip()][: _MAX_LINES - 1]
    return [*kept, f"  … {len(lines) - len(kept)} more lines"]


def _stack(messages: Sequence[tuple[Message, list[str]]]) -> list[Block]:
    heights = [_LINE * len(lines) + _GAP for _, lines in messages]
    tops = accumulate(heights[:-1], initial=_TOP)
    return [
        Block(message["role"], lines, top)
        for (message, lines), top in zip(messages, tops, strict=True)
    ]


def _draw_card(left: int, height: int, head: str, note: str, share: float) -> Iterator[str]:
    """Draw a column: its frame, what it is, what it costs, and that as a bar."""
    room = _COLUMN - 2 * _PAD
    x = left + _PAD
    yield f'<rect class="card" x="{left}" width="{_COLUMN}" height="{height}" rx="10"/>'
    yield f'<text class="head" x="{x}" y="30">{head}</text>'
    yield f'<text class="note" x="{x + 76}" y="30">{note}</text>'
    yield f'<rect class="track" x="{x}" y="41" width="{room}" height="5" rx="2.5"/>'
    kind = "full" if share == 1 else "saved"
    yield (f'<rect class="{kind}" x="{x}" y="41" width="{room * share:.0f}" height="5" rx="2.5"/>')


def _draw_ribbons(
    before: Sequence[Block], after: Sequence[Block], places: Sequence[range]
) -> Iterator[str]:
    """Draw which messages each message of the fold stands for."""
    left, right, middle = _COLUMN, _COLUMN + _BETWEEN, _COLUMN + _BETWEEN // 2
    for target, place in zip(after, places, strict=True):
        tops = before[place.start].top, target.top
        ends = before[place.stop - 1].bottom - _GAP, target.bottom - _GAP
        yield (
            f'<path class="ribbon {target.role}" d="M{left},{tops[0]} '
            f"C{middle},{tops[0]} {middle},{tops[1]} {right},{tops[1]} V{ends[1]} "
            f'C{middle},{ends[1]} {middle},{ends[0]} {left},{ends[0]} Z"/>'
        )


def _draw_block(left: int, block: Block) -> Iterator[str]:
    """Draw a message: a bar in the colour of who speaks, and its lines."""
    height = block.bottom - block.top - _GAP
    yield (f'<rect class="{block.role}" x="{left}" y="{block.top}" width="3" height="{height}"/>')
    for number, line in enumerate(block.lines):
        y = block.top + _LINE * number + 12
        yield f'<text x="{left + _PAD}" y="{y}">{_paint(line)}</text>'


def _paint(line: str) -> str:
    """Colour who speaks, the marks of a fold, and what the picture leaves out."""
    if _MORE.fullmatch(line):
        return f'<tspan class="more">{line}</tspan>'
    made, end = [], 0
    for found in _COLOURED.finditer(line):
        kind = found["who"] or "mark"
        made += (
            escape(line[end : found.start()]),
            f'<tspan class="{kind}">{escape(found[0])}</tspan>',
        )
        end = found.end()
    return "".join((*made, escape(line[end:])))
