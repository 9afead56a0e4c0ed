"""Texts full of names and of what looks like names, and the names that each pattern finds."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from refold.scan import patterns
from refold.scan.patterns import LOWER, UPPER, WEB_ADDRESS, trim_url
from tests.conversations import texts

PIECES = (
    *("getTide ", "TideBox", "tide_box", "MAX_X ", "A1B", "A1B_C", "T5Z", "_a", "a_", "__", "xYz"),
    *("npm ", "kml", "BCD", "Hmm", "HttpSrv", "ff", "'s", "n't", "'"),
    *("12 ms ", "3.9 kB)", "5 nodes", "12\nMB", "1,200 users ", "12.5%", "30分钟", "9 %", "7 Kg"),
    *("5 µs", "5μs", "5 minuteſ", "5K", "10 مرات", "3 мин", "4 instances ", "8 misfortunes "),
    *("v2.1.3", "1.2", "1.2.3.4", "v1", "8", "0", ".", ",", "..", "%", "_", "x", "v", "V", "m"),
    *("a/b.py ", "-.etc", "./a/b.ts", "../", "/", "-", "a.b", ".json5x", ".markdown", "U.S."),
    *("https://a.io/b.", "http://", "s://", "://", ":", "《红楼梦》", "「", "」", "』", "《"),
    *(
        "Ines Roy ",
        "São ",
        "The ",
        "Then Ada ",
        "RoY",
        "Ro",
        "Y",
        "É",
        "А",
        "я",
        "ß",
        "ª",
        " ",
        "\n",
    ),
    *(
        "ſ",
        "\u212a",
        "İ",
        "ı",
        "分",
        "・",
        "ー",
        "한국",
        "Ａ",
        "ａ",
        "５",
        "ₐ",
        "ა",
        "²",
        "٣",
        "न",
        "ा",
    ),
    *(
        "👍",
        "—",
        "’",
        "…",
        "\u3000",
        "\xa0",
        "\x1c",
        "\x85",
        "\u2028",
        "e\u0301",
        "\ud800",
        "𝐀",
        "𠀀",
    ),
)
PROPER_NAME = re.compile(rf"(?<!\w)[{UPPER}][{LOWER}]++(?: [{UPPER}][{LOWER}]++)*+(?!\w)")
"""A row of capitalized words, said plainly: it takes quadratic time to find that there is none."""


def named_texts() -> st.SearchStrategy[str]:
    """Texts of names, pieces of names and anything else, in no order."""
    pieces = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)
    signs = st.text(st.sampled_from("aeAxB01_.,/-' %vVmsMB\n:é分"), max_size=30)
    return st.one_of(texts(), st.text(max_size=40), pieces, signs)


def names_by_pattern(text: str) -> list[str]:
    """Search the whole text with each pattern in turn."""
    found = [n for n in PROPER_NAME.findall(text) if n.split(" ")[0] not in patterns.STARTERS]
    for kind in ("pascal", "camel", "snake"):
        found += [m[0] for m in patterns.IDENTIFIER.finditer(text) if m.lastgroup == kind]
    found += patterns.SHORT.findall(text)
    found += [*patterns.QUANTITY.findall(text), *patterns.PATH.findall(text)]
    found += map(trim_url, WEB_ADDRESS.findall(text))
    found += patterns.VERSION.findall(text)
    found += [name.rstrip(".,;:!?)]}'\"") for name in patterns.TITLE.findall(text)]
    return [name for name in dict.fromkeys(found) if name]
