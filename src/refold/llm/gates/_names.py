"""Whom and what a text names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from refold.llm.gates._clauses import ASIAN, stems_of
from refold.llm.gates._languages import FUNCTION_WORDS, may_be_german
from refold.scan.facts import MONTH
from refold.scan.patterns import LOWER, UPPER

TITLED: Final = re.compile(
    rf"\b(?:Mr|Mrs|Ms|Dr|Prof|Herrn?|Frau|Monsieur|Madame|Mme|Mlle|M|Señora?|Signora?|Sra?)\.? "
    rf"([{UPPER}][{LOWER}]++)|(?:господин|госпожа|г-н) ([{UPPER}][{LOWER}]++)"
    r"|(?i:owner|approver|author|contact|assignee|reviewer|lead|manager|signed|approved by): "
    rf"([{UPPER}][{LOWER}]++)"
    r"|([\u3400-\u9fff]{1,3})(?:先生|女士|经理|总监|主任|老师|總監|經理|さん|様|氏|部長|課長)"
    r"|([\uac00-\ud7af]{2,4})(?:씨|님| 부장| 과장| 대리)"
)
"""A title makes a name of what stands beside it, also where a sentence begins."""
_CAPITAL: Final = re.compile(
    rf"(?:(?<=[^\W\d_] )|(?<=, )|(?<=\())(?P<inside>[{UPPER}][{LOWER}{UPPER}]*+)"
    rf"|(?<![\w'’])(?P<opener>[{UPPER}][{LOWER}]++)(?='s |[ ](?!of|on|in|for|at|by|with|"
    r"from|above|below|under|over|to|and|or|is|are|was|were|de|del|des|du|pour|par|por|para|et|y|est|"
    rf"sont)[{LOWER}])"
)
"""A word with a capital inside of a sentence, or before what somebody does."""
_LETTER: Final = re.compile(r"(?<=[a-z] )[A-HJ-Z](?![\w.'’])")
"""Layout B."""
_FULL_NAME: Final = re.compile(rf"(?<!\w)([{UPPER}][{LOWER}]++) ([{UPPER}][{LOWER}]++)(?!\w)")
_CHINESE: Final = re.compile(
    r"(?<![\u3400-\u9fff])(?:由|让|请|和)?"
    r"([王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔"
    r"钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤]"
    r"[\u4e00-\u9fff]{1,2}?)"
    r"(?=已|把|将|接手|转|做|负责|说|会|要|签|写|认为|提出|同意|确认|检查|决定|批准|更新|联系|安排|处理|修改|"
    r"设计|测试|准备|审核|跟进|跟踪|管|来|去|在|也|先|事先|之前|验|找)"
)
"""A usual family name, where a clause begins, before what somebody does."""
_LATIN: Final = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z][A-Za-z]{2,}(?![A-Za-z0-9_])")
"""A word in Latin letters inside of a text that is not."""
_TIME: Final = re.compile(
    rf"(?:{MONTH}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|[A-Z][a-z]+tags?|Herrn?|Frau)"
)
_WORD: Final = re.compile(r"[^\W\d_\u3040-\u9fff]++")
_SMALL: Final = re.compile(rf"(?<![\w'’])[{LOWER}]++")
_MOST_NAMES: Final = 100
"""It keeps the work linear."""


class Names:
    """Tells whom and what a text names, of all that a source names."""

    def __init__(self, text: str) -> None:
        found = dict.fromkeys(name for name in _find(text) if not _TIME.fullmatch(name))
        self.words = tuple(islice(found, _MOST_NAMES))
        self.stems = frozenset().union(*(stems_of(name.lower()) for name in self.words))
        self._known = frozenset(self.words)
        self._asian = [name for name in self.words if name >= "\u3000"]

    def named_in(self, text: str) -> frozenset[str]:
        """Return whom *text* names."""
        asian = (name for name in self._asian if name in text)
        return frozenset(_WORD.findall(text)) & self._known | frozenset(asian)


def _find(text: str) -> Iterator[str]:
    yield from (next(filter(None, titled.groups())) for titled in TITLED.finditer(text))
    yield from _LETTER.findall(text)
    if ASIAN.search(text):
        yield from _CHINESE.findall(text)
        yield from _LATIN.findall(text)
        return
    if may_be_german(text):  # where nouns have capitals, only those of two words
        yield from (w for pair in _FULL_NAME.findall(text) for w in pair if _is_content(w))
        return
    small = set(_SMALL.findall(text))
    for found in _CAPITAL.finditer(text):
        word = found["inside"] or found["opener"]
        if len(word) > 2 and word.lower() not in small and _is_content(word):
            yield word


def _is_content(word: str) -> bool:
    return word.lower() not in FUNCTION_WORDS
