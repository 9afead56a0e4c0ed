"""The clauses of a text: what each is about, what it denies, and its side of opposites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

from refold.llm.gates._counts import in_digits
from refold.llm.gates._values import values_in
from refold.llm.gates._words import FUNCTION_WORDS, HELPING_WORDS, words_of
from refold.scan.facts import MONTH, SENTENCE_END, find_no
from refold.scan.patterns import HAN, KANA, LOWER, UPPER

_INSTEAD: Final = (
    "rather than|instead of|anstelle|(?:an)?statt|au lieu d[eu']|plutôt qu[e']|en vez de|"
    "en lugar de|em vez de|invece d[ie]"
)
_LINKS: Final = {
    "if": r"if|when|whenever|once|provided|as long as|unless|wenn|falls|sofern|sobald|solange|"
    r"es sei denn|si|quand|lorsque|dès que|à moins|tant que|cuando|siempre que|mientras|a menos|"
    r"如果|若|除非|一旦",
    "without": r"(?:without|ohne|sans|sin|sem|senza|zonder|без)(?! exce| ausna)|"
    rf"(?:{_INSTEAD})(?! ?(?:[.,;:)$€£¥]|\w* ?\d|$))",
    "before": r"before(?! ?(?:[.,;:)]|$))|until|till|bevor|ehe|bis|avant|jusqu['’]|antes|hasta",
    "after": r"after|nachdem|après|después|tras",
    "because": r"because|since|as it|weil|da|denn|parce|car|puisque|porque|ya que|因为|由于|因為|"
    r"although|though|even though|obwohl|bien que|aunque|虽然|尽管",
    "": r"and|but|while|whereas|so that|und|aber|während|sondern|et|mais|tandis|y|pero|sino|而|"
    r"但是?|which|who|so|also",
}
_BORDER: Final = re.compile(
    r"[,:;](?!\d)|[，、：—–;；()（）\[\]→]|(?<=ではなく)|(?<=でなく)|(?<=ずに)|(?<=まで)[にはも]?|"
    r"(?<=場合)[はにも]?|(?<=前に)|(?<=之前)|(?<=以前)|(?<![^\W\d\u3040-\u9fff])(?:"
    + "|".join(rf"(?P<{name or 'plain'}>{words})" for name, words in _LINKS.items())
    + r")(?![^\W\d\u3040-\u9fff])",
    re.IGNORECASE,
)
"""Where one clause ends and the next begins; not inside of a number or a time."""
_NOT_IF: Final = re.compile(
    r"unless|es sei denn|à moins|a menos|除非|without|ohne|sans|sin|sem|senza|zonder|без|"
    rf"{_INSTEAD}",
    re.IGNORECASE,
)
_ASIAN_LINK: Final = re.compile(
    r"場合|たら|なら(?!な)|ば$|まで|る前|た後|之前|以前|之后|以后|(?<=时)$"
)
"""What makes a condition or a time of a Chinese or Japanese clause, at its end."""
_REPEATED: Final = frozenset(
    "no nadie nunca nada ningún ninguno ninguna jamás ni pas jamais rien aucun aucune não nem "
    "nenhum nenhuma non nessun nessuno nessuna niente не нет никогда ни".split()
)
"""Negations of languages in which two of them in a clause are one."""
_BRACKETS: Final = frozenset("(（")
_COLONS: Final = frozenset(":：")
_ASIDE: Final = 32
"""What is no longer, in brackets, belongs to the clause before: a name, a value."""
_COUNTED: Final = re.compile(
    r"(?<![0-9])[0-9]++[万亿億千百个個元円块年月日号天周週時时点分秒钟鐘間间人名件次台倍度岁歳页頁行条項项回本章]{1,3}"
)
TIMES: Final = ("before", "after")
"""Links that are opposites."""
REFERRING: Final = re.compile(
    r"[\s*•-]*+(?:It|This|That|These|They|He|She|His|Her|Their|Its|Er|Sie|Es|Das|Dies\w*|Il|Elle|Ils|"
    r"Cela|Ce|Él|Ella|Ello|Esto|Eso)(?!\w)|[\s・]*+(?:这|那|它|他|她|それ|これ|彼)"
)
"""A sentence that needs the one before it."""
_LABEL: Final = 40
"""So long is at most a label, with which what follows its colon begins."""
_SHORT_FORM: Final = (
    r"(?<!\w)(?:Dra?|Mr|Mrs|Ms|Prof|Mme|Sra?|M|Nr|No|ca|approx|max|Max|Máx|máx|min|Min|mind|Mio|Mrd|inkl|"
    r"bzw|evtl|incl|vs)\."
)
_NO_END: Final = re.compile(rf"(?:(?<![\s\S])|\n)[ \t]*+[0-9]{{1,3}}\.$|{_SHORT_FORM}$")
"""The number of an item or a short form, whose point ends no sentence. (`endpos` ends the text.)"""
_NO_END_CHARS: Final = 8
"""So far back it is looked for: as long as the longest of them."""
_MONTH: Final = re.compile(MONTH)
_GRAMMAR: Final = re.compile(
    r"可以|不能|不得|不可|不会|不要|不应该?|应该|必须|已经|没有|还没|尚未|暂时|目前|所有|不|没|也|都|了|的"
)
"""What Chinese says beside what it is about."""
_GOING_ON: Final = frozenset("but which who aber mais pero und and et y 但".split())
_ONLY_NAMES: Final = re.compile(rf"\s*+(?:[{UPPER}][{LOWER}]++\s*+){{1,3}}+")
_WORD: Final = re.compile(rf"[^\W\d_{KANA}{HAN}]{{3,}}+")
_PAIR: Final = re.compile(
    r"(?<![\u30a1-\u30ff])[\u30a1-\u30ff]{2,4}"
    r"|(?=([\u3400-\u9fff]{2}))"
    r"|(?<![\u3400-\u9fff])[\u3400-\u9fff](?=(?![はがをにのでともへやか])[\u3041-\u3096])"
)
"""Words in katakana by their beginning, pairs of characters at every place; what Japanese writes in
hiragana is mostly grammar."""
_STEM: Final = 4
"""So many letters of a word tell what it is about, whatever its ending: signs, signed, signing."""
_ENDING: Final = re.compile(r"(?<=(?<!\w)\w{3})(?:ed|ing)(?!\w)")
"""Of a short word it would be part of the stem: add, added."""
_PLAIN: Final = str.maketrans("àáâãäåçèéêëìíîïñòóôõöùúûü", "aaaaaaceeeeiiiinooooouuuu")
"""Endings move accents: envía, enviará."""
_LONG_SENTENCE: Final = 80
"""So much of what a sentence is about is compared: it keeps the work linear."""
_NO_LIMIT: Final = re.compile(
    r"\b(?:no|not|nicht|pas|ne|keinesfalls|never|nie)\b[^,.;]{0,40}?\b(?:more|less|fewer|later|"
    r"earlier|longer|mehr|weniger|später|länger|plus|moins|más|menos) (?:than|als|de|que)\b"
    r"|\b(?:more than|mehr als|plus de|más de) [^,.;]{0,40}?\b(?:not|nicht|pas)\b"
    r"|\b(?:not before|nicht vor|pas avant|no antes)\b|\b(?:not|nicht|no) (?:only|just|nur|"
    r"solo)\b|不[能得可]?(?:超过|少于|低于|高于)"
    r"|(?:没有|未|不)[^，。、 ]{1,8}的(?=[\u4e00-\u9fff])|の[な無]い(?=[\u4e00-\u9fff])|"
    r"(?:なければ|なくては)(?:なら|なり)(?:ない|ません)|しか"
)
"""A negation that sets a limit, or that denies nothing."""
ASIAN: Final = re.compile(f"[{KANA}{HAN}]")
DENYING: Final = ("consent", "permission", "success", "presence", "course")
"""Opposites of which the second side is a no."""
_LETTER: Final = rf"[^\W\d_{KANA}{HAN}]"
_ASIAN: Final = "\u3000"


def _pattern(name: str) -> str:
    """Return a pattern for a list of words: `*` stands for any ending, `_` for a blank."""
    words = words_of(name)
    latin = "|".join(
        re.escape(word).replace(r"\*", rf"{_LETTER}*+").replace("_", " ")
        for word in words
        if word < _ASIAN
    )
    asian = "|".join(word for word in words if word >= _ASIAN)
    return rf"(?<!{_LETTER})(?:{latin})(?!{_LETTER})" + (f"|{asian}" if asian else "")


SIDES: Final = {
    name: tuple(re.compile(_pattern(f"{name} {side}")) for side in "+-")
    for name in (*DENYING, "height", "time", "duty", "price", "side", "age", "way", "amount")
}
"""The opposites, by name; the words of each side."""
_UN: Final = (
    r"(?<!\w)un(?!ter|til|der|it|ion|iver|iqu|less|as|os)(?=[a-zäöü]{4})[a-zäöü]++"
    r"|(?<!\w)non-(?=\w)"
)
"""What is undecided or unsigned is not decided or signed."""
DENIAL: Final = re.compile("|".join((*(_pattern(f"{name} -") for name in DENYING), _UN)))
"""Words that say no of what stands beside them."""
_NOT_YET: Final = re.compile(_pattern("not yet"))
"""Words that say no if nothing else does: the contract is still pending."""


@dataclass(frozen=True)
class Clause:
    """A part of a sentence."""

    text: str
    link: str = ""
    """What joins it to the rest: a condition, a time, a reason, or nothing of the kind."""
    is_unless: bool = False
    place: int = 0
    """Which sentence it is of."""
    sentence: frozenset[str] = frozenset()
    """What its whole sentence is about, and the one before if it refers to that."""
    goes_on: bool = False
    """Whether it says more of whom the clause before speaks: "… but has no lift"."""

    @cached_property
    def lower(self) -> str:
        """The clause in small letters."""
        return self.text.lower()

    @cached_property
    def stems(self) -> frozenset[str]:
        """What it is about; of scripts without blanks the pairs of characters."""
        return stems_of(self.lower)

    @cached_property
    def values(self) -> set[str]:
        """The values that it states."""
        return values_in(self.text)

    @cached_property
    def _plain(self) -> str:
        return _NO_LIMIT.sub(lambda found: " " * len(found[0]), self.lower)

    @cached_property
    def plain_noes(self) -> int:
        """How many negations it has, such as not, no, never, unless; not words such as *refuse*."""
        said = {place for found in DENIAL.finditer(self._plain) for place in range(*found.span())}
        noes = [no[0] for no in find_no(self._plain) if no.start() not in said]
        if noes and ASIAN.search(noes[0]):
            noes = noes[:1]  # "who has no badge has no entry" is one
        repeated = sum(no in _REPEATED for no in noes)
        return len(noes) - max(repeated - 1, 0) + self.is_unless

    @cached_property
    def noes(self) -> int:
        """How many negations it has, in whatever words."""
        found = self.plain_noes + len(DENIAL.findall(self._plain))
        return found or int(_NOT_YET.search(self._plain) is not None)

    @cached_property
    def senses(self) -> dict[str, set[int]]:
        """On which sides of which opposites it is; a no turns some of them."""
        found = _senses_of(self.lower, is_turned=self.plain_noes % 2 == 1)
        if self.link in TIMES:
            found.setdefault("time", set()).add(TIMES.index(self.link))
        return found


def _senses_of(lower: str, *, is_turned: bool) -> dict[str, set[int]]:
    """Return on which sides of which opposites a text in small letters is.

    Where it *is_turned*, who does not accept refuses; but not above is not below.
    """
    found: dict[str, set[int]] = {}
    for name, sides in SIDES.items():
        on = {n ^ (is_turned and name in DENYING) for n in (0, 1) if sides[n].search(lower)}
        if on:
            found[name] = on
    return found


def _content(lower: str) -> Iterator[str]:
    """Yield what a text in small letters is about, in order."""
    if ASIAN.search(lower):
        lower = _COUNTED.sub(" ", lower)
        yield from (found[1] or found[0] for found in _PAIR.finditer(_GRAMMAR.sub(" ", lower)))
    for found in _WORD.finditer(lower):
        word = found[0]
        if word not in FUNCTION_WORDS and word not in HELPING_WORDS and not _is_other(word):
            yield stem_of(word)


def stem_of(word: str) -> str:
    """Return the letters of a word in small letters that tell what it is about."""
    stem = _ENDING.sub("", word)[:_STEM].translate(_PLAIN)
    if len(word) <= _STEM:
        stem = stem.removesuffix("s")
    return stem[:-1] if len(stem) == _STEM and stem[-1] == stem[-2] else stem  # run, running


@lru_cache(maxsize=4096)
def _is_other(word: str) -> bool:
    """Tell whether a word is a no or a month: nothing that could be denied."""
    return bool(find_no(word)) or _MONTH.fullmatch(word) is not None


def stems_of(lower: str) -> frozenset[str]:
    """Return what a text in small letters is about."""
    return frozenset(_content(lower))


@lru_cache(maxsize=64)  # most gates ask for the same sentences, one gate after the other
def split_clauses(text: str) -> tuple[Clause, ...]:
    """Cut *text* into clauses, its numbers in digits."""
    found: list[Clause] = []
    before: frozenset[str] = frozenset()
    for place, sentence in enumerate(split_sentences(in_digits(text))):
        own = frozenset(islice(sorted(stems_of(sentence.lower())), _LONG_SENTENCE))
        stems = own | before if REFERRING.match(sentence) else own
        before = own
        for part, link, is_unless, goes_on in _parts(sentence):
            if goes_on is None and found:  # in brackets, of the same
                found[-1] = replace(found[-1], text=f"{found[-1].text} {part}")
            else:
                found.append(Clause(part, link, is_unless, place, stems, bool(goes_on)))
    return tuple(found)


def split_sentences(text: str) -> list[str]:
    """Return the sentences and lines of *text*, with what divides them."""
    ends = [
        found.end()
        for found in SENTENCE_END.finditer(text)
        if not _NO_END.search(text, max(0, found.start() - _NO_END_CHARS), found.start())
    ]
    places = zip([0, *ends], [*ends, len(text)], strict=True)
    return [part for start, end in places if (part := text[start:end]).strip()]


def _parts(sentence: str) -> Iterator[tuple[str, str, bool, bool | None]]:
    """Yield the parts of a sentence, their links, and whether a condition is a denied one.

    Last, whether the part goes on with the one before; None if it stands in brackets behind it.
    """
    done, link, is_unless, names = 0, "", False, ""
    before, done_any = "", False
    for border in [*_BORDER.finditer(sentence), None]:
        part = sentence[done : border.start() if border is not None else None]
        if before in _BRACKETS and len(part) < _ASIDE:
            if names or not done_any:
                names += f"{part} "
            else:
                yield part, "", False, None
        elif border is not None and border[0] in _COLONS and not link and _is_label(part):
            names += f"{part} "
        elif _ONLY_NAMES.fullmatch(part) and border is not None:
            names += f"{part} "  # what somebody did together with others
        elif part.strip() and before == "," and done_any and _is_value(part.lower()):
            yield part, "", False, None  # a value between commas
        elif part.strip():
            asian = "if" if _ASIAN_LINK.search(part) else ""
            yield names + part, link or asian, is_unless, before.lower() in _GOING_ON
            names, done_any = "", True
        if border is not None:
            before = border[0]
            kind = border.lastgroup
            if kind is not None or part.strip():
                link = "" if kind in (None, "plain") else kind
                is_unless = _NOT_IF.fullmatch(border[0]) is not None
            done = border.end()


def _is_value(lower: str) -> bool:
    return not stems_of(lower) and not find_no(lower)


def _is_label(part: str) -> bool:
    return len(part) <= _LABEL and not find_no(part.lower())
