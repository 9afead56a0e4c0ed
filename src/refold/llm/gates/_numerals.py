"""Numbers in Chinese characters: 三千六百, 四十二万, 三分之一."""

from __future__ import annotations

import re
from typing import Final

_NUMERALS: Final = dict(zip("〇零一二三四五六七八九两兩", "0012345678922", strict=True))
_PLACES: Final = {"十": 10, "百": 100, "千": 1000}
_MYRIADS: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_CHARS: Final = "".join((*_NUMERALS, *_PLACES, *_MYRIADS))
_COUNTED: Final = (
    "个個名次天年月日号號条條項项倍元円块人件台点點时時分秒周週层層階社枚冊本匹回度岁歳页頁行章种種份家位"
    "场場座间間米吨箱張张封篇句段部辆輛套组組轮輪届屆期步级級成割"
)
_NUMERAL: Final = re.compile(
    rf"[{_CHARS}]{{2,24}}+|[〇零二三四五六七八九十百千两兩](?=[{_COUNTED}小公])|一(?=[月日号號时時点點周週秒]|小[时時]|分[钟鐘]|[个個ヶか]月)"
)
"""One character alone is a number only before what can be counted: 一 begins many other words."""
_NO_NUMBERS: Final = frozenset("万一 萬一 千万 千萬 万千 一一 万万 千千".split())
"""These say "in case", "by all means" or "very many", unless something countable follows."""
_VERY: Final = re.compile(r"分(?![钟鐘之の间間])")
_PART: Final = rf"[{_CHARS}]{{1,12}}+|[0-9]{{1,12}}+"
_SHARE: Final = re.compile(rf"({_PART})(?:分之|分の)({_PART})")
_HUNDREDTHS: Final = frozenset({"百", "100"})


def read_numeral(written: str) -> int:
    """Return the number that Chinese numerals spell: 二百三十 is 230."""
    total = part = digit = 0
    for char in written:
        if char in _MYRIADS:
            factor, low = _MYRIADS[char], part + digit
            if total < factor:  # 一万亿 multiplies what stands before it, 一亿二千万 adds to it
                total = max(total + low, 1) * factor
            else:
                total += max(low, 1) * factor
            part = digit = 0
        elif char in _PLACES:
            part, digit = part + max(digit, 1) * _PLACES[char], 0
        else:
            digit = digit * 10 + int(_NUMERALS[char])
    return total + part + digit


def numerals_in_digits(text: str) -> str:
    """Return *text* with its Chinese numerals in digits."""
    return _NUMERAL.sub(_write, _SHARE.sub(_write_share, text))


def _write(found: re.Match[str]) -> str:
    written = found[0]
    follows = found.string[found.end() : found.end() + 1]
    is_very = written == "十" and _VERY.match(found.string, found.end())
    if is_very or (written in _NO_NUMBERS and (not follows or follows not in _COUNTED)):
        return written
    return str(read_numeral(written))


def _write_share(found: re.Match[str]) -> str:
    whole, part = found.groups()
    number = part if part.isdecimal() else str(read_numeral(part))
    if whole in _HUNDREDTHS:
        return f"{number}%"
    return f"{number}/{whole if whole.isdecimal() else read_numeral(whole)}"
