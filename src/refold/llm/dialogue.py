"""A dialogue with a model about one text: ask, check, ask again, and use what can be used.

A rejected answer is asked for once more, naming the facts it lost; then the lost facts are appended
word for word, to the second answer or else to the first, if that is still shorter. An answer that
says nothing false, but lacks something, is used if it keeps more per token than the summary by the
rules does; else that summary is used.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from refold.llm.ask import Questions, Tally
from refold.llm.gates import GATES, Refusal, Source, check, only_lacks
from refold.llm.gates._clauses import REFERRING, split_sentences
from refold.llm.gates._values import values_in
from refold.llm.gates.base import WORD
from refold.llm.gates.facts_present import missing_facts
from refold.llm.gates.negations_kept import lost_negations
from refold.llm.gates.supported import sentences_like
from refold.llm.summarizers.base import SummaryRequest
from refold.notation.marks import GAP
from refold.notation.notes import kept_facts
from refold.result import RefusedAnswer
from refold.scan.facts import find_quotes

_MAX_ANSWERS: Final = 2
"""The first answer, and one that knows why the first was refused; after that the rules do it."""
_MIN_ANSWER_TOKENS: Final = 40
"""Room for a sentence or two, however short the text is. A guess."""
_ANSWER_SHARE: Final = 0.4
"""About how long an answer should be, compared with its text."""
_LINE_GATES: Final = tuple(
    gate
    for gate in GATES
    if gate.name
    not in {
        "not_empty",
        "shorter",
        "json_valid",
        "same_language",
        "on_topic",
        "facts_present",
        "negations_kept",
    }
)
"""The gates that can judge a single line."""
_MOST_LINES: Final = 200
"""At most so many lines are checked; it bounds the time."""
_INVENTING: Final = frozenset(("nothing_invented", "known_names"))
_CUT: Final = _INVENTING | {"supported", "limits_kept"}
"""Gates that doubt what a sentence says, and sometimes wrongly: the rest may be used."""
_MOST_INVENTED: Final = 1 / 4
"""A model that invents in this share of the lines that it writes of a stretch is believed in none:
what its true lines kept was worth less than the digest by rules (.009 of what a judge foresees)."""
_MOST_SENTENCES: Final = 40
"""An answer of more sentences is not mended: it keeps the work linear."""
_LEAD: Final = re.compile(r"[\s*•·・-]*+(?:[0-9]{1,3}[.)] )?+")
"""The mark of an item."""
_HEADING: Final = re.compile(r"#{1,6} |\*\*[^*\n]+\*\*:?$|[^\n]{1,60}[:：]$")
_ROUNDS: Final = 2
"""Completing one kind of fact may show that another is missing; then once more."""
_SHORT: Final = 2
"""A fact of more words than this is a sentence, which may hold other facts."""
_FRAME_TOKENS: Final = 20
"""What the mark around a summary costs: without it, a single fact alone would be the best."""
_NEGATION: Final = 2
"""A negation weighs as much as this many other facts: whoever misses it does the wrong thing."""


def dialogue(
    source: Source, questions: Questions, tally: Tally
) -> Generator[SummaryRequest, str | None, str | None]:
    """Ask for a summary, at most twice; return what may be used, if anything.

    What one of a stretch leaves of its room goes to lines of the digest by the rules.
    """
    rules = questions.rules.get(source.text)
    is_stretch = source.text in questions.stretches
    tokens = max(_MIN_ANSWER_TOKENS, int(_ANSWER_SHARE * source.count_tokens(source.text)))
    room = source.count_tokens(rules) if is_stretch and rules is not None else None
    tokens = tokens if room is None else room
    context = questions.contexts.get(source.text, "")
    request = SummaryRequest(text=source.text, max_tokens=tokens, context=context)
    refused: list[tuple[str, tuple[Refusal, ...]]] = []
    while len(refused) < _MAX_ANSWERS:
        said = yield request
        if said is None:
            break
        answer = said.strip()
        if is_stretch:
            answer, untrue = true_lines(source, answer)
            _note(source, untrue, tally)
        refusals = check(source, answer)
        if not refusals:
            tally.waiting[source.text] = False
            return answer if room is None or rules is None else fill(source, answer, rules, room)
        _note(source, refusals, tally)
        refused.append((answer, refusals))
        missing = tuple(dict.fromkeys(fact for refusal in refusals for fact in refusal.missing))
        # A summary of many messages need not have all facts: doubtful ones are cut without asking.
        may_end = is_stretch or all(refusal.is_false for refusal in refusals)
        if may_end and choose_answer(source, refused, rules, room) is not None:
            break
        # With nothing to name, the same question would get the same answer: ask for less.
        request = replace(request, max_tokens=tokens if missing else tokens // 2, must_keep=missing)
    chosen = choose_answer(source, refused, rules, room)
    if chosen is None:
        return None
    tally.waiting[source.text] = chosen.is_repaired
    if room is None or rules is None:
        return chosen.text
    return fill(source, chosen.text, rules, room)


def _note(source: Source, refusals: Iterable[Refusal], tally: Tally) -> None:
    tally.refused.extend(
        RefusedAnswer(gate=r.gate, why=r.why, missing=r.missing, text=source.text) for r in refusals
    )


def repair(source: Source, answer: str, refusals: tuple[Refusal, ...]) -> str | None:
    """Append the facts that *answer* lacks, word for word, as a last line `[kept: a; b]`.

    Return None if that does not help: it is no longer shorter than the source, or a gate still
    refuses, or refused for something else than missing facts. What says the opposite of a fact
    stays false with the fact behind it.
    """
    missing: list[str] = []
    for _ in range(_ROUNDS):
        if not refusals or not only_lacks(refusals):
            return None
        missing += (fact for refusal in refusals for fact in refusal.missing)
        completed = answer.rstrip() + kept_facts(_widest(missing))
        refusals = check(source, completed)
        if not refusals:
            return completed
    return None


class Chosen(NamedTuple):
    """The text to use, and whether it differs from all answers of the model."""

    text: str
    is_repaired: bool


def choose_answer(
    source: Source,
    answers: Sequence[tuple[str, tuple[Refusal, ...]]],
    rules: str | None = None,
    most_tokens: int | None = None,
) -> Chosen | None:
    """Choose among *answers* with their refusals, the last first; None if none may be used.

    An answer that every gate lets through is used, whole or repaired. What is in doubt in one is
    left out, sentence by sentence. One that only lacks facts is used if it keeps more per token
    than the summary by the *rules*, which lacks some as well; then as many of the facts are
    appended as there is room for. Where there is a limit of *most_tokens* nothing is appended: a
    list of values would look better than it reads.
    """
    latest = [found for found in reversed(answers) if only_lacks(found[1])]
    if not latest:
        mended = (text for found in reversed(answers) for text in mend(source, *found))
        latest = [(text, check(source, text)) for text in mended]
    if most_tokens is not None:
        latest = [found for found in latest if source.count_tokens(found[0]) <= most_tokens]
    chosen = _choose(source, latest, rules, may_append=most_tokens is None)
    if chosen is None:
        return None
    return Chosen(chosen, is_repaired=all(chosen != answer for answer, _ in answers))


def _choose(
    source: Source,
    latest: Sequence[tuple[str, tuple[Refusal, ...]]],
    rules: str | None,
    *,
    may_append: bool,
) -> str | None:
    for answer, refusals in latest:
        if not refusals:
            return answer
        repaired = repair(source, answer, refusals) if may_append else None
        if repaired is not None:
            return repaired
    if rules is None or not latest:
        return None
    best = max(latest, key=lambda found: merit(source, found[0]))
    completed = _complete(source, *best) if may_append else best[0]
    worth = max(merit(source, best[0]), merit(source, completed))
    return completed if worth > merit(source, rules) else None


def mend(source: Source, answer: str, refusals: tuple[Refusal, ...]) -> Iterator[str]:
    """Yield *answer* with what the source says in place of sentences in doubt, then without them.

    Nothing is left of an answer that is in doubt from beginning to end, or of which half is
    invented. Of an answer that gives orders, declines or plays another turn, nothing is used.
    """
    if any(refusal.gate not in _CUT and not refusal.missing for refusal in refusals):
        return
    sentences = split_sentences(answer)
    if len(sentences) > _MOST_SENTENCES:
        return
    doubts = [
        {gate.name for gate in GATES if gate.name in _CUT and gate.check(source, sentence)}
        for sentence in sentences
    ]
    in_doubt = [bool(gates) for gates in doubts]
    invented = sum(not gates.isdisjoint(_INVENTING) for gates in doubts)
    if all(in_doubt) or invented * 2 >= len(sentences):
        return
    for instead in (_instead_of(source, sentences, in_doubt), [""] * len(sentences)):
        kept: list[str] = []
        is_cut = False
        for sentence, doubt, other in zip(sentences, in_doubt, instead, strict=True):
            is_cut = not other if doubt else is_cut and REFERRING.match(sentence) is not None
            kept.append("" if is_cut else other if doubt else sentence)
        mended = "".join(kept).strip()
        if mended and only_lacks(check(source, mended)):
            yield mended


def _instead_of(source: Source, sentences: Sequence[str], in_doubt: Sequence[bool]) -> list[str]:
    """Return what the source says in place of each sentence in doubt, in its own words."""
    used: set[str] = set()
    said: list[str] = []
    for sentence, doubt in zip(sentences, in_doubt, strict=True):
        own = list(sentences_like(source, sentence)) if doubt else []
        new = [one for one in own if one not in used and not any(one in s for s in sentences)]
        used.update(new)
        lead, end = _LEAD.match(sentence), sentence[len(sentence.rstrip()) :]
        said.append(f"{lead[0] if lead else ''}{' '.join(new)}{end}" if new else "")
    return said


def true_lines(source: Source, answer: str) -> tuple[str, tuple[Refusal, ...]]:
    """Return the lines of *answer* that may be used, headings with what stands below, and why not.

    Each line is checked for itself, but not for what it leaves out. Of an answer that invents in
    many of them, none may be used.
    """
    kept: list[str] = []
    refused: list[Refusal] = []
    heading = ""
    lines = invented = 0
    for line in answer.splitlines()[:_MOST_LINES]:
        if _HEADING.match(line):
            heading = line
        elif line.strip():
            lines += 1
            with_heading = f"{heading}\n{line}"
            found = [
                refusal
                for gate in _LINE_GATES
                if (
                    refusal := gate.check(
                        source, line if gate.name == "supported" else with_heading
                    )
                )
            ]
            if found:
                invented += any(refusal.gate in _INVENTING for refusal in found)
                refused += found
                continue
            kept += filter(None, (heading, line))
            heading = ""
    is_believed = invented < _MOST_INVENTED * lines
    return "\n".join(kept) if is_believed else "", tuple(refused)


def fill(source: Source, answer: str, rules: str, most_tokens: int) -> str:
    """Return *answer*, and lines of the digest by the *rules* in the room that it leaves."""
    kept = [answer]
    said = set(answer.splitlines())
    left = most_tokens - source.count_tokens(answer)
    for line in rules.splitlines():
        cost = source.count_tokens(line) + 1
        if cost <= left and line.strip() and not line.startswith(GAP) and line not in said:
            kept.append(line)
            said.add(line)
            left -= cost
    return "\n".join(kept)


def _complete(source: Source, answer: str, refusals: tuple[Refusal, ...]) -> str:
    """Append as many of the facts that *answer* lacks as there is room for."""
    missing = _widest([fact for refusal in refusals for fact in refusal.missing])
    count = len(missing)
    while count > 0:
        completed = answer.rstrip() + kept_facts(missing[:count])
        if only_lacks(check(source, completed)):
            return completed
        count //= 2
    return answer


def _widest(facts: list[str]) -> list[str]:
    """Leave out the values, names and quotations that a longer fact says already."""
    distinct = list(dict.fromkeys(facts))
    quotes = {fact for fact in distinct if next(find_quotes(fact), "") == fact}
    longer = [fact for fact in distinct if fact in quotes or len(fact.split()) > _SHORT]
    stated = set().union(*map(values_in, longer))
    words = {word for fact in longer for word in WORD.findall(fact)}
    quoted = {quote for fact in longer if fact not in quotes for quote in find_quotes(fact)}

    def is_said(fact: str) -> bool:
        if fact in quotes or len(fact.split()) > _SHORT:
            return fact in quoted
        values = values_in(fact)
        return values <= stated if values else fact in words

    return [fact for fact in distinct if not is_said(fact)]


def merit(source: Source, summary: str) -> float:
    """Return how many facts and negations of *source* the *summary* keeps, per token of it."""
    facts = source.facts
    total = len(source.values) + len(facts.quotes) + len(facts.errors) + len(facts.names)
    kept = total - len(missing_facts(source, summary))
    kept += _NEGATION * (len(facts.negations) - len(lost_negations(source, summary)))
    return max(kept, 0) / (source.count_tokens(summary) + _FRAME_TOKENS)
