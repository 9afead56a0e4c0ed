"""May an answer of a model be used? One table of checks; all must agree.

An answer is used as written or not at all. What it only leaves out is appended in one line: values
of the source that it lacks, and sentences of the source whose "not" it lost. Reasons name kinds and
counts, never values, so that they can be logged.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Final

from refold.lazy import regex
from refold.llm import phrases
from refold.notation.notes import kept_facts
from refold.notation.recognize import IMITATION
from refold.scan.facts import find_errors, find_no, find_quotes, pieces
from refold.scan.patterns import IDEOGRAPHS
from refold.scan.structure import is_json
from refold.scan.values import Stated, values_of

_WORD: Final = regex(r"\w+")
_STEM: Final = 4
"""Words that begin with the same letters are forms of one word."""
_MOST_LOOKUPS: Final = 200
"""So many phrases of an answer are looked for in its source; it keeps the work linear."""


class Source:
    """The text that an answer stands for, and what is found in it, each once."""

    def __init__(self, text: str, count_tokens: Callable[[str], int]) -> None:
        self.text = text
        self.count_tokens = count_tokens

    @cached_property
    def stated(self) -> Stated:
        """The values of the text."""
        return Stated(self.text)

    @cached_property
    def reading(self) -> str:
        """The text as it reads, with white space made equal."""
        return " ".join(reading_of(self.text).split())

    @cached_property
    def tokens(self) -> int:
        """The number of tokens of the text."""
        return self.count_tokens(self.text)

    @cached_property
    def sentences(self) -> Sentences:
        """Its sentences, by what they are about."""
        return Sentences(self.text)


def reading_of(text: str) -> str:
    """Return *text* as it reads: without invisible letters, case and apostrophes made equal."""
    seen = phrases.INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return seen.casefold().replace("’", "'")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an answer may not be used as it is."""

    check: str
    why: str
    """In kinds and counts, never in words of the source or of the answer."""
    missing: tuple[str, ...] = ()
    """What the answer has to say as well; only ever sent to the model, or appended."""


Check = Callable[[Source, str], str]
"""Returns why an answer may not be used; an empty string if there is nothing against it."""


def count_kinds(kinds: Iterable[str]) -> str:
    """Return how many there are of each kind: `2 ids, 1 number`."""
    counted = Counter(kinds)
    return ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in counted.items())


def not_empty(_: Source, answer: str) -> str:
    """Refuse what says nothing."""
    return "" if any(map(str.isalnum, answer)) else "it says nothing"


def shorter(source: Source, answer: str) -> str:
    """Refuse what is not shorter than its source, in characters and in tokens."""
    if len(answer) >= len(source.text):
        return f"{len(answer)} characters, the source has {len(source.text)}"
    spent = source.count_tokens(answer)
    return f"{spent} tokens, the source has {source.tokens}" if spent >= source.tokens else ""


def no_talk(source: Source, answer: str) -> str:
    """Refuse what declines or talks of its task in words that its source lacks."""
    talk = {" ".join(match[0].split()) for match in phrases.TALK.finditer(reading_of(answer))}
    new = sum(one not in source.reading for one in talk)
    return f"it talks about its task or declines, {new}×" if new else ""


def no_voice(source: Source, answer: str) -> str:
    """Refuse what speaks of itself or to its reader, unless its source does."""
    first, second = phrases.FIRST_PERSON.search, phrases.SECOND_PERSON.search
    if first(answer) and not first(source.text):
        return "it speaks of itself"
    is_new = second(reading_of(answer)) and not second(source.reading)
    return "it speaks to its reader" if is_new else ""


def no_order(source: Source, answer: str) -> str:
    """Refuse what instructs instead of reporting."""
    plain = reading_of(answer)
    if phrases.ORDER.search(plain) is not None:
        return "it gives an order to a model"
    deeds = {match[1][:_STEM].strip() for match in phrases.DEED.finditer(plain)}
    is_new = any(deed not in source.reading for deed in deeds)
    return "it gives an order that the source does not give" if is_new else ""


def stays_in_place(source: Source, answer: str) -> str:
    """Refuse what begins another turn, has markup that its source lacks, or ends its mark."""
    plain = reading_of(answer).strip()
    if phrases.PROTOCOL.search(plain) is not None:
        return "it has marks of a chat protocol"
    for role in {match[1] or match[2] for match in phrases.TURN.finditer(plain)}:
        if f"{role}:" not in source.reading and f"{role}：" not in source.reading:
            return "it reads like another turn"
    if IMITATION.search(answer) is not None:
        return "it imitates a stand-in"
    markup = {match[0] for match in phrases.MARKUP.finditer(answer)}
    if len(markup) > _MOST_LOOKUPS or any(one not in source.text for one in markup):
        return "it has markup that the source lacks"
    depths = accumulate((char == "[") - (char == "]") for char in answer)
    return "it closes a bracket that it has not opened" if min(depths, default=0) < 0 else ""


def plain_letters(source: Source, answer: str) -> str:
    """Refuse letters that cannot be seen, or of an alphabet that its source lacks."""
    if phrases.REORDERING.search(answer) is not None:
        return "it has characters that hide or reorder text"
    new = set(answer) - set(source.text)
    for char in new:
        is_unseen = unicodedata.category(char) in {"Cc", "Cf", "Co", "Cs"} and char not in "\n\t\r"
        if is_unseen or phrases.INVISIBLE.match(char) is not None:
            return "it has characters that cannot be seen"
    letters = {char for char in new if char > "\u024f" and char.isalpha()}
    known = {"LATIN", *map(_script, filter(str.isalpha, {*source.text}))} if letters else set()
    if not known.issuperset(map(_script, letters)):
        return "it has letters of an alphabet that the source does not use"
    mixed = set(phrases.MIXED.findall(answer.casefold()))
    if mixed and not mixed <= set(phrases.MIXED.findall(source.text.casefold())):
        return "it mixes letters of two alphabets in one word"
    return ""


def _script(char: str) -> str:
    """Name the script of a letter; letters made to look like Latin ones are none of them."""
    if char < "\u0250":
        return "LATIN"
    name = unicodedata.name(char, "?")
    if phrases.ASIAN.match(name):
        return "ASIAN"
    first = name.partition(" ")[0]
    if first == "LATIN":
        return "LATIN" if "\u1e00" <= char < "\u1f00" else "PHONETIC"
    return "LATIN" if first in {"FEMININE", "MASCULINE", "MICRO", "OHM", "KELVIN"} else first


def language_of(text: str, *, unlike: str = "") -> str:
    """Name the language of a text in Latin letters, or else its script; "" if that is not plain.

    A text without any of the words of the language *unlike* need not have many of another.
    """
    lower = text.casefold()
    latin = phrases.LATIN.findall(lower)
    others = Counter(_script(char) for char in lower if char > "\u0250" and char.isalpha())
    script, most = others.most_common(1)[0] if others else ("", 0)
    if most > 2 * sum(map(len, latin)):
        return script
    tables = phrases.SMALL_WORDS.items()
    hits = Counter({name: sum(word in small for word in latin) for name, small in tables})
    (best, first), (_, second) = hits.most_common(2)
    least = 2 if unlike in hits and not hits[unlike] and len(latin) > 7 else 4
    is_sure = first >= least and first * 10 >= len(latin) and first >= 2 * second
    return best if is_sure and most * 2 < sum(map(len, latin)) else ""


def same_language(source: Source, answer: str) -> str:
    """Refuse another language than that of its source, where both are plain."""
    ours, theirs = language_of(source.text), language_of(answer, unlike=language_of(source.text))
    return "it is in another language" if ours and theirs and ours != theirs else ""


def on_topic(source: Source, answer: str) -> str:
    """Refuse what hardly has a word of its source, or only one that somebody wants repeated."""
    ours, theirs = source.sentences.all_stems, set(stems_of(answer))
    least = max(len(theirs) / 3, min(3, len(ours)))
    return "" if len(ours & theirs) >= least else "it is about something else"


def json_stays(source: Source, answer: str) -> str:
    """Refuse what is not JSON for what is."""
    is_lost = is_json(source.text) and not is_json(answer)
    return "the source is JSON, the answer is not" if is_lost else ""


def nothing_invented(source: Source, answer: str) -> str:
    """Refuse numbers, ids, addresses, paths and quotations that the source lacks."""
    new = [*source.stated.invented_by(answer)]
    new += ["quotation" for _ in _unquoted(find_quotes(answer), source.text)]
    return f"{count_kinds(new)} not in the source" if new else ""


def _unquoted(quotes: Iterable[str], text: str) -> Iterator[str]:
    """Yield the *quotes* that *text* does not say; only a sentence may begin with another case."""
    quoted = {" ".join(quote[1:-1].split()) for quote in find_quotes(text)}
    spaced = " ".join(text.split())
    for number, quote in enumerate(dict.fromkeys(quotes)):
        inside = " ".join(quote[1:-1].split()).rstrip(".,;:!?")
        forms = (inside, inside[:1].swapcase() + inside[1:])
        if quoted.isdisjoint(forms) and (
            number > _MOST_LOOKUPS or not any(f in spaced for f in forms)
        ):
            yield quote


CHECKS: Final[dict[str, Check]] = {
    check.__name__: check
    for check in (
        not_empty,
        shorter,
        no_talk,
        no_voice,
        no_order,
        stays_in_place,
        plain_letters,
        same_language,
        on_topic,
        json_stays,
        nothing_invented,
    )
}
"""In the order in which reasons are reported: the plainest first."""
_ONLY_BY_DEFAULT: Final = frozenset({"json_stays", "same_language"})
"""A prompt of the caller's own may ask for something else."""


def check(source: Source, answer: str, *, is_free: bool = False) -> tuple[Refusal, ...]:
    """Return every reason against *answer*, what it lacks last; none means it may be used.

    With *is_free*, for a prompt of the caller's own, it may leave out and reshape what it likes.
    """
    refusals = [
        Refusal(name, why)
        for name, one in CHECKS.items()
        if not (is_free and name in _ONLY_BY_DEFAULT) and (why := one(source, answer))
    ]
    if not is_free:
        lost = dict(lost_values(source, answer))
        turned = dict.fromkeys(lost_negations(source, answer), "negation")
        for name, facts in (("nothing_lost", lost), ("negations_kept", turned)):
            if facts:
                why = f"{count_kinds(facts.values())} missing"
                refusals.append(Refusal(name, why, tuple(facts)))
    return tuple(refusals)


def lost_values(source: Source, answer: str) -> Iterator[tuple[str, str]]:
    """Yield the values, quotations and error lines of *source* that *answer* lacks, with kinds."""
    yield from ((quote, "quotation") for quote in _unquoted(find_quotes(source.text), answer))
    answered = frozenset(stems_of(answer))
    for line in dict.fromkeys(find_errors(source.text)):
        stems = set(stems_of(line))
        if 2 * len(stems & answered) < len(stems):
            yield line, "error line"
    stated = Stated(answer)
    for value in source.stated.values:  # a single figure counts something at hand
        if not stated.has(value) and (value.kind != "number" or len(value.forms[0]) > 1):
            yield value.text, value.kind


_WRITTEN_TOGETHER: Final = regex(f"[{IDEOGRAPHS}]+")
_SMALL: Final = frozenset(word[:_STEM] for words in phrases.SMALL_WORDS.values() for word in words)
_MOST_PLACES: Final = 32
"""A word of more sentences than this distinguishes none of them."""
_ABOUT: Final = 0.5
"""The share of its words, small ones aside, that a sentence keeps of another. A guess."""


def stems_of(text: str) -> Iterator[str]:
    """Yield the beginnings of the words that say what *text* is about; of Chinese, all pairs."""
    for word in _WORD.findall(text.casefold()):
        if _WRITTEN_TOGETHER.match(word) is not None:
            yield from map("".join, pairwise(word))
        elif word[:_STEM] not in _SMALL:
            yield word[:_STEM]


class Sentences:
    """The sentences of a text, to find the one that another is about."""

    def __init__(self, text: str) -> None:
        self.texts = list(dict.fromkeys(pieces(text)))
        self.stems = [frozenset(stems_of(one)) for one in self.texts]
        self.all_stems = frozenset[str]().union(*self.stems)
        self.noes = [len(find_no(one.casefold())) for one in self.texts]
        self._places: dict[str, list[int]] = {}
        for place, stems in enumerate(self.stems):
            for stem in stems:
                self._places.setdefault(stem, []).append(place)

    def about(self, stems: frozenset[str]) -> list[int]:
        """Return the places of the sentences about the same."""
        shared: Counter[int] = Counter()
        for stem in stems:
            places = self._places.get(stem, [])
            if len(places) <= _MOST_PLACES:
                shared.update(places)
        return [
            place
            for place, many in shared.items()
            if many >= max(2, _ABOUT * min(len(stems), len(self.stems[place])))
        ]


def lost_negations(source: Source, answer: str) -> Iterator[str]:
    """Yield each sentence of *source* that *answer* keeps with fewer negations."""
    ours, theirs = source.sentences, Sentences(answer)
    for place, noes in enumerate(ours.noes):
        kept = theirs.about(ours.stems[place]) if noes else []
        if kept and sum(theirs.noes[other] for other in kept) < noes:
            yield ours.texts[place]


def complete(
    source: Source, answer: str, refusals: Iterable[Refusal], room: int | None = None
) -> str | None:
    """Return *answer* with what it lacks as its last line, if that is all that is wrong with it.

    None if it is not, or if the whole would not be shorter than the source. An answer that has
    *room* for some tokens only gets as much of it as there is room for.
    """
    missing: list[str] = []
    for refusal in refusals:
        if not refusal.missing:
            return None
        missing += refusal.missing
    facts = _widest(missing)
    if facts and is_json(source.text):  # with a line more it would be none
        return None
    if room is None:
        whole = answer + kept_facts(facts) if facts else answer
        return None if shorter(source, whole) else whole
    if source.count_tokens(answer) > room:
        return None
    while facts:
        whole = answer + kept_facts(facts)
        if source.count_tokens(whole) <= room and not shorter(source, whole):
            return whole
        facts = facts[: len(facts) // 2]
    return answer


def _widest(facts: Iterable[str]) -> list[str]:
    """Leave out what a longer one of these facts says already."""
    distinct = dict.fromkeys(facts)
    longer = [fact for fact in distinct if " " in fact.strip("\"“”„«»'`")]
    stated = Stated("\n".join(longer))
    quotes = {quote for fact in longer for quote in find_quotes(fact) if quote != fact}
    return [
        fact
        for fact in distinct
        if fact not in quotes
        and not (
            fact not in longer and (values := values_of(fact)) and all(map(stated.has, values))
        )
    ]
