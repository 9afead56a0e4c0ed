"""Texts made to be slow, huge or misread: every codec stays linear and in bounds."""

from __future__ import annotations

import pytest

from refold.codecs import CODECS, Codec, reencode
from refold.codecs.seen import SeenLines

SIZE = 200_000
NUMBERED = "\n".join(f"{n:>6}→line {n}" for n in range(1, 9))
RECORD = '{"a": "' + "x" * 1000 + '"}\n'

TEXTS = {
    "one letter": "a" * SIZE,
    "one line of dots": "." * SIZE + " x:",
    "one line of spaces": " " * SIZE + "1→",
    "blank lines": "\n" * SIZE,
    "carriage returns": "x" * SIZE + "\ra" * SIZE,
    "escapes": "\x1b[" * SIZE,
    "titles": "\x1b]" * SIZE,
    "digits in escapes": "\x1b[" + "0" * SIZE,
    "opening brackets": "[\n" * SIZE,
    "opening braces": '{"a":\n' * SIZE,
    "unclosed texts": '{"a\n' * SIZE,
    "blocks without end": "{a=<<END\n" * (SIZE // 8) + RECORD,
    "rows without end": "[{a=x}\nrows of a\n" * (SIZE // 16) + RECORD,
    "records cut off": ('[{"a": "' + "x" * 300 + '"}, {"a": ') * 600,
    "strings cut off": '{"a": "' + "\\\\" * SIZE,
    "numbers that go on": NUMBERED + "\n" + " " * SIZE + "1→\n" + "2\tx\n" * 20_000,
    "hits of a huge path": "a/" * SIZE + "b.c:1:x\n" + "a/b.c:2:y\n" * 20_000,
    "dots before a hit": "a." * SIZE + ":1:x\na.b:2:y\na.b:3:y",
    "stretches that come again": "\n".join(f"line {n % 40} of the stretch" for n in range(20_000)),
    "blank stretches": ("a line of some length" + "\n" * 200) * 200,
    "log fields without end": "\n".join(["10:00:01 " + "a" * SIZE, *["10:00:02 T1" * 50] * 200]),
    "log of one field": "\n".join(f"10:00:01 {'T' * 2_000}{n}" for n in range(200)),
    "log of all pairs": "\n".join(
        f"10:00:01 the {'xyz'[n % 3]} office has {'abc'[n // 3 % 3]} seen {'uvw'[n // 9 % 3]} again"
        for n in range(2_000)
    ),
    "log of one long line": "\n".join(
        f"10:00:01 {'the gate ' * 5_000}{end}" for end in ("is open", "is shut", "was open")
    ),
    "log of words that differ once": "\n".join(
        "10:00:01 " + " ".join("gate" if n == at else "ship" for n in range(200))
        for at in range(200)
    ),
    "log of colons": "\n".join(["10:00:01 " + ":a::" * 5_000] * 5),
    "log rows": "[A| ×4 from 1 to 2: " + "{}" * SIZE + "]\n" + "A|1\n" * 2_000,
    "lone surrogates": ("\ud800" * 20 + "  \n") * 2_000,
    "separators": "a\u2028b\x85c\x00d  \n" * 5_000,
}


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_texts_come_back_or_stay(name: str) -> None:
    text = TEXTS[name]
    result = reencode(text, len)
    assert result is None or len(result.text) < len(text)


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_no_codec_makes_much_of_little(codec: Codec) -> None:
    for text in TEXTS.values():
        new = codec.encode(text)
        assert len(new or "") <= 2 * len(text)


@pytest.mark.parametrize("line", ["x", "", "a line that identifies a place"])
def test_a_file_of_equal_lines_that_is_read_again(line: str) -> None:
    seen = SeenLines()
    seen.add("\n".join([line] * 20_000))
    short = seen.shorten("\n".join([line] * 10_000 + ["y"] + [line] * 10_000))
    assert short is None or len(short) < 20_000
