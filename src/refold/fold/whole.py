"""A fold without a budget: every text in full, in fewer tokens; what came before is a mark.

    copies → respelled → lines that were shown before

A file that an agent reads to edit keeps its own words: its JSON, its tabs, its blanks.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final

from refold.classic.compress import Folder
from refold.classic.rules import Rule, Run, kept
from refold.codecs import CodecTable
from refold.codecs.records import flat
from refold.codecs.seen import SeenLines
from refold.files import prints_file, shows_file
from refold.fold.people import is_insert, is_output, is_prose, is_typed
from refold.messages.folds import Fold, Outcome, Plan, kept_fold
from refold.messages.handles import handle_of
from refold.messages.message import Call, Message, Part
from refold.messages.token_count import CountedTexts
from refold.notation.marks import reformatted, same_result
from refold.notation.recognize import is_marked

_NOT_PROSE: Final = "not_last_words"
"""The reason of texts in a fold of prose that are not prose, and are respelled instead."""
_NOT_QUOTED: Final = frozenset(("search_hits",))
"""They take values apart that a call may quote next: `src/a.py:12` is then a heading and a row."""
_MIN_COPY: Final = 200
"""Characters of a text below which a reference to an earlier one saves next to nothing."""


class Speller:
    """Spells the messages of one conversation one by one, and knows what its reader has seen."""

    def __init__(
        self, tokens: CountedTexts, codecs: CodecTable, *, is_quoted: bool = False
    ) -> None:
        """Spell by these *codecs*; so that calls may quote what is shown, if it *is quoted*."""
        self._tokens, self._codecs, self._is_quoted = tokens, codecs, is_quoted
        self._without = _NOT_QUOTED if is_quoted else frozenset[str]()
        self._seen_lines = SeenLines()
        self._calls: dict[str, Call] = {}
        self._seen: dict[str, Call | None] = {}
        """Long texts of results → the call that returned each first."""
        self._last_words = ""
        """What the assistant said last: agents without calls write their commands there."""

    def spell(
        self, message: Message, *, prose: Fold | None = None, pastes: Container[int] = ()
    ) -> Fold:
        """Return how the next message is shown: results and *pastes*, by their number, respelled.

        Tool output in the user's role is a result. Its *prose*, if given, is folded already.
        """
        texts: dict[int, str] = {} if prose is None else dict(prose.texts)
        rows: list[Outcome] = []
        for number, part in enumerate(message.parts):
            if prose is not None and prose.outcomes[0][number].reason != _NOT_PROSE:
                rows.append(prose.outcomes[0][number])
                continue
            is_data = number in pastes or self._is_result(message, part)
            best, why = part.text, "nothing_to_gain"
            for text, by in self._ways(message, part) if is_data else ():
                if len(text) < len(best) and self._tokens(text) < self._tokens(best):
                    best, why = text, by
            if best is not part.text:
                texts[number] = best
            action = "preserved" if best is part.text else "recoded"
            rows.append(Outcome(action, why, len(part.text), len(best)))
        rows = rows or [Outcome("preserved", "short_content", 0, 0)]
        fold = Fold(sources=(message,), texts=texts, outcomes=(tuple(rows),))
        self.note(message, fold, pastes)
        return fold

    def _ways(self, message: Message, part: Part) -> Iterator[tuple[str, str]]:
        """Yield how a text may be shown, and why."""
        text, handle = part.text, handle_of((message,))
        if is_marked(text):
            return
        if text in self._seen:
            yield same_result(_name_call(self._seen[text]), handle), "same_read"
            return
        without = self._codecs.not_for_files if self._is_file(part) else self._without
        made = self._codecs.reencode(text, self._tokens, without=without)
        why = f"recoded:{','.join(made.by)}" if made else "recoded"
        if made:
            yield reformatted(made.text, handle), why
        rest = (
            self._seen_lines.shorten(made.text if made else text)
            if self._is_result(message, part)
            else None
        )
        if rest is not None:
            yield reformatted(rest, handle), f"{why},shown" if made else "recoded:shown"

    def _is_file(self, part: Part) -> bool:
        call = self._calls.get(part.call_id or "")
        return prints_file(self._last_words) if call is None else shows_file(call)

    def _is_result(self, message: Message, part: Part) -> bool:
        """Tell whether a tool returned *part*, in whichever role."""
        return message.is_result(part) or (
            message.role == "user" and self._last_words != "" and is_output(part.text)
        )

    def note(self, message: Message, fold: Fold, pastes: Container[int] = ()) -> None:
        """Note that the reader sees *fold* in the place of the next message."""
        self._calls.update((call.id, call) for call in message.calls)
        for number, part in enumerate(message.parts):
            is_result = self._is_result(message, part)
            if is_result:
                self._seen_lines.add(fold.texts.get(number, part.text))
            if (is_result or number in pastes) and len(part.text) >= _MIN_COPY:
                self._seen.setdefault(part.text, self._calls.get(part.call_id or ""))
            if message.role in ("assistant", "model"):
                self._last_words = part.text
        for call in message.calls:
            for text in _long_texts(call):
                self._seen_lines.add(text, is_escaped=self._is_quoted)


def spell_all(
    messages: Sequence[Message],
    whole: Mapping[int, str],
    tokens: CountedTexts,
    codecs: CodecTable,
    *,
    prose: Mapping[int, Fold] | None = None,
    is_paste: bool = False,
) -> Plan:
    """Show every message in the shortest way that loses nothing.

    Those in *whole* stay as they are, for the reason given. *prose* has folds of prose, by the
    index of their first message. With *is_paste*, data in the user's messages counts as results.
    """
    speller = Speller(tokens, codecs)
    plan: list[Fold] = []
    end = 0
    for message in messages:
        if message.index < end:
            continue  # part of the fold before it
        ready = prose.get(message.index) if prose else None
        if message.index in whole:
            fold = kept_fold(message, whole[message.index])
        elif ready is not None and len(ready.sources) > 1:
            fold, end = ready, ready.sources[-1].index + 1
        else:
            pastes = _find_pastes(message) if is_paste else ()
            plan.append(speller.spell(message, prose=ready, pastes=pastes))
            continue
        speller.note(message, fold)
        plan.append(fold)
    return tuple(plan)


def fold_prose(run: Run, rules: Sequence[Rule]) -> dict[int, Fold]:
    """Fold what the assistant said by the rules of `classic`; map first messages to folds.

    What is pinned stays as it is. Texts that the rules do not decide on have a reason of their own.
    """
    for text in run.texts:
        message, part = text.message, text.message.parts[text.part]
        if message.index in run.pinned:
            continue
        if message.role == "user" or message.is_result(part):
            is_typed = not message.is_result(part) and not _is_pasted(part.text)
            text.verdict = kept("typed" if is_typed else _NOT_PROSE)
    run.decide(rules)
    folder = Folder(run)
    folds: dict[int, Fold] = {}
    for group in folder.groups(border=0):
        reasons = [text.verdict and text.verdict.reason for text in run.by_message[group[0].index]]
        if any(reason != _NOT_PROSE for reason in reasons):
            folds |= {fold.sources[0].index: fold for fold in folder.fold(group, run.options.depth)}
    return folds


def _find_pastes(message: Message) -> frozenset[int]:
    """Return the numbers of a user's texts that are data: pasted, or written by a program."""
    if message.role != "user" or not message.is_turn:
        return frozenset()
    return frozenset(
        number
        for number, part in enumerate(message.parts)
        if not message.is_result(part) and _is_pasted(part.text)
    )


def _is_pasted(text: str) -> bool:
    return is_insert(text) or is_output(text) or not (is_typed(text) or is_prose(text))


def _long_texts(call: Call) -> Iterator[str]:
    """Yield the strings of several lines among the arguments of a call."""
    if "\\n" not in call.spelled or call.arguments is None:
        return
    values: list[object] = [call.arguments]
    while values:
        value = values.pop()
        if isinstance(value, Mapping):
            values += value.values()
        elif isinstance(value, list):
            values += value
        elif isinstance(value, str) and "\n" in value:
            yield value


def _name_call(call: Call | None) -> str:
    """Return an earlier call on one line, so that a model recognizes it; "" if it takes more."""
    arguments = call.arguments or {} if call else {}
    name = " ".join([call.name, *(f"{k}={flat(v)}" for k, v in arguments.items())]) if call else ""
    return "" if "\n" in name else name
