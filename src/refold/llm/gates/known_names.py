"""Refuses an answer that names somebody or something that its source does not name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from refold.llm.gates._clauses import ASIAN, stems_of
from refold.llm.gates._words import FUNCTION_WORDS, may_be_german, words_of
from refold.llm.gates.base import STEM_CHARS, WORD, Gate, Refusal, Source, some
from refold.scan.facts import MONTH, UNITS, find_no
from refold.scan.patterns import LOWER, UPPER

_NAME: Final = re.compile(
    rf"(?<![\w])(?:(?P<caps>[A-Z]{{2,20}}(?![\w]))"
    rf"|[{UPPER}][{LOWER}]++(?:['’]?[{UPPER}][{LOWER}]++)*+"
    rf"(?:[ -](?:(?:van|von|de|der|da|di|la|el|al|bin|of) )?[{UPPER}][{LOWER}]++)*+(?P<more>\w?+))"
)
"""Capitals, or capitalized words in a row; with *more* the last one is not over, and it is none."""
_DOES: Final = re.compile(
    r"(?:['’]s)?(?: from \w+)? (?:said|says|say|asked|asks|told|tells|wrote|writes|confirmed|"
    r"confirms|approved|approves|decided|decides|agreed|agrees|reported|reports|wants|wanted|"
    r"suggested|suggests|noted|notes|promised|promises|insisted|signed|emailed|called|replied|"
    r"thinks|believes|requested|requests|complained|mentioned|explained|claims|claimed|owns|leads|"
    r"will (?:look|review|handle|fix|send|take)|hat (?:gesagt|zugestimmt|bestätigt|entschieden|"
    r"genehmigt|gebeten)|sagte|sagt|meint|bat|genehmigte|bestätigte|entschied|a (?:dit|demandé|"
    r"confirmé|approuvé|décidé|signé)|dit que|dijo|dice|pidió|confirmó|aprobó|decidió|disse|pediu|"
    r"confirmou|aprovou|ha (?:detto|chiesto|confermato|approvato)|сказал[аи]?|попросил[аи]?|"
    r"подтвердил[аи]?|одобрил[аи]?|решил[аи]?)(?![^\W_])"
)
"""What only people do: the word before it is a name, also at the beginning of a sentence."""
_ANYBODY: Final = frozenset(words_of("anybody"))
_USUAL: Final = frozenset(words_of("usual abbreviations"))
"""Abbreviations that need no source, and the headings that our own prompts ask for."""
_BEGINNINGS: Final = '.!?:;…。！？\n\r\t*#>|•–—-"“«„'
"""After these a word may have its capital from its place."""
_PAIR: Final = 2
"""A word that begins a sentence and its noun are no name where all nouns are written large."""
_SHORT: Final = (3, 4)
"""Letters of an abbreviation: Oct, Sept."""
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


def _check(source: Source, answer: str) -> Refusal | None:
    new = list(dict.fromkeys(_new_names(source, answer)))
    if not new:
        return None
    return Refusal(f"the source does not name {some(new)}")


def _new_names(source: Source, answer: str) -> Iterator[str]:
    for found in TITLED.finditer(answer):
        name = next(filter(None, found.groups()))
        if name.casefold() not in source.words and name not in source.text:
            yield name
    knows = source.once(_Known)
    has_large_nouns = source.once(_has_large_nouns)
    for found in _NAME.finditer(answer):
        words = [] if found["more"] else WORD.findall(found[0])
        if words and words[0].casefold() in FUNCTION_WORDS and _may_begin(answer, found.start()):
            del words[0]
        unknown = [word for word in words if not knows(word)]
        if not unknown:
            continue
        if found["caps"]:
            is_name = True
        elif _may_begin(answer, found.start()):
            if has_large_nouns and len(words) == _PAIR:
                continue  # a word that begins, and its noun
            is_one = len(words) == 1 and words[0].casefold() not in _ANYBODY
            is_name = unknown != words[:1] or (is_one and _does(answer, found.end()))
        else:
            is_name = not has_large_nouns or (len(words) > 1 and len(unknown) == len(words))
        if is_name:
            yield found[0]


def _may_begin(text: str, place: int) -> bool:
    """Tell whether a sentence, a line or a quotation may begin there."""
    before = text[max(0, place - 3) : place].rstrip(" ")
    return not before or before[-1] in _BEGINNINGS


def _does(text: str, place: int) -> bool:
    return _DOES.match(text, place) is not None


def _has_large_nouns(source: Source) -> bool:
    return may_be_german(source.text)


class _Known:
    """Tells whether a source has a word: a name as it is, another word in any form."""

    def __init__(self, source: Source) -> None:
        self._words = source.words
        self._short = {
            word[:cut].casefold()
            for word in source.spelled
            if word[:1].isupper() and len(word) > max(_SHORT)
            for cut in _SHORT
        }
        """How the names of months, days and departments are cut short."""
        self._stems = {word[:STEM_CHARS] for word in source.spelled if word[:1].islower()}
        self._forms = source.words | {
            word[:-cut]
            for word in source.words
            if not word.isascii() and len(word) > STEM_CHARS
            for cut in (1, 2, 3)
        }

    def __call__(self, word: str) -> bool:
        folded = word.casefold()
        if any(folded in known for known in (self._words, _USUAL, FUNCTION_WORDS, UNITS)):
            return True
        if folded[:STEM_CHARS] in self._stems or not self._words.isdisjoint(
            (folded.removesuffix("s"), f"{folded}s")
        ):
            return True
        if folded in self._short:
            return True
        if not word.isascii() and any(folded[: -cut or None] in self._forms for cut in range(4)):
            return True
        return bool(find_no(folded))


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


GATE: Final = Gate("known_names", _check)
