"""Pages in HTML or Markdown: headings count more, markup that shows nothing counts less."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds._errors import split_source
from refold.kinds._lines import END, any_of, line_pattern, line_rules
from refold.kinds.base import HEADING, NOISE, Kind, Pieces, Sample

_HEADINGS: Final = any_of(
    r"#{1,6} \S",
    rf"\*\*[^*\n]++\*\*:?{END}",
    rf"={{4,}}+{END}",
    r"<(?:h[1-6]|title|summary|caption)\b",
)
_MARKUP: Final = any_of(
    r"</|<!|<\?xml",
    r"<(?:script|style|link|meta|svg|path|noscript|iframe|br|hr|input|img|use|g|rect|source)\b",
    rf"<(?:div|span|section|ul|li|nav|header|footer|main|body|head|html)\b[^>\n]*+>[ \t]*+{END}",
    rf"[-*_]{{3,}}+{END}",
    r"!?\[!\[|!\[",  # badges and pictures
    rf"\|[ :|-]{{2,}}+{END}",  # the line below the header of a table
)
_MARKS: Final = line_rules(r"[ \t]*+", (HEADING, _HEADINGS), (NOISE, _MARKUP))

_TAG: Final = line_pattern(r"[ \t]*+<(?i:!doctype|html|head|body|/?[a-z][a-z0-9]{0,12}[ >/])")
_TITLE: Final = re.compile(r"\n#{1,6} \S")
_MARKDOWN: Final = line_pattern(
    r"[ \t]*+(?:[-*+] \S|[0-9]{1,3}[.)] \S|```|> |\||\*\*\S)",
    r"[^\n\]*`]*+(?:\]\(|\*\*|`[^`\n]++`)",
)


def _claims(sample: Sample) -> bool:
    if sample.text[:200].lstrip()[:9].lower().startswith(("<!doctype", "<html")):
        return True
    if len(sample.lines) >= 4 and sample.share(_TAG) >= 0.4 and sample.has("</", "/>"):
        return True
    titles = len(_TITLE.findall(sample.text)) if "#" in sample.text else 0
    return titles >= 2 and sample.count(_MARKDOWN) >= 2


def split_page(text: str) -> Pieces:
    """Cut a page into headings, text and markup."""
    return split_source(text, _MARKS(text))


KIND: Final = Kind(name="page", claims=_claims, on_one_line=True, split=split_page)
