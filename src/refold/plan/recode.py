"""The lossless layer: re-encode tool results and pastes of a conversation in fewer tokens.

A file that is read again unchanged becomes a reference to the earlier read; one that has changed, a
diff against it. Lines that were shown before, in results or in what a call wrote, are not repeated.
All of it can be decoded, and the originals are kept besides.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from refold.codecs import TABLE, Codec, CodecTable
from refold.codecs.rereads import changes
from refold.codecs.shown import Shown
from refold.fold.records import flat
from refold.messages.folds import Fold, Outcome, Plan, kept_fold
from refold.messages.handles import handle_of
from refold.messages.message import Call, Message, Part
from refold.messages.token_count import CountedTexts
from refold.notation.marks import reformatted, same_result
from refold.notation.recognize import is_marked

NO_FOLDS: Final[Mapping[int, Fold]] = MappingProxyType({})
NOT_PROSE: Final = "not_said"
"""The reason of texts in a fold of prose that are no prose, and are re-encoded instead."""
_MIN_REREAD: Final = 200
"""Characters of a result below which a reference to an earlier read saves next to nothing."""
_COPY: Final = "same_read"


@dataclass(frozen=True, slots=True)
class Recoded:
    """A re-encoded text, and how it was re-encoded."""

    text: str
    """The new text; for a copy, the call that returned it first."""
    why: str

    def marked(self, handle: str) -> str:
        """Return the text under its mark."""
        is_copy = self.why == _COPY
        return same_result(self.text, handle) if is_copy else reformatted(self.text, handle)


Key = tuple[int, int]
"""The index of a message and the number of one of its texts."""


def recode(
    messages: Sequence[Message],
    whole: Container[int],
    tokens: CountedTexts,
    codecs: Sequence[Codec] | None = None,
    *,
    table: CodecTable = TABLE,
    pastes: Container[Key] = frozenset(),
) -> dict[Key, Recoded]:
    """Re-encode the tool results and *pastes* of all messages but those that stay *whole*.

    With these *codecs* of the *table*, or with all of them. Texts that do not get shorter are left
    out.
    """
    found: dict[Key, Recoded] = {}
    for key, text in _find_data(messages, whole, pastes):
        shorter = table.reencode(text, tokens, codecs)
        if shorter is not None:
            found[key] = Recoded(shorter.text, f"recoded:{','.join(shorter.by)}")
    return found


def _find_data(
    messages: Sequence[Message], whole: Container[int], pastes: Container[Key] = frozenset()
) -> Iterator[tuple[Key, str]]:
    """Yield the texts of tool results and *pastes*, with their keys."""
    for message in messages:
        if message.index in whole or not message.is_turn:
            continue
        for number, part in enumerate(message.parts):
            is_data = message.is_result(part) or (message.index, number) in pastes
            if is_data and not is_marked(part.text):
                yield (message.index, number), part.text


def plan_lossless(
    messages: Sequence[Message],
    whole: Mapping[int, str],
    recoded: Mapping[Key, Recoded],
    tokens: CountedTexts,
    hidden: Container[int] = frozenset(),
    *,
    shown: Shown | None = None,
    prose: Mapping[int, Fold] = NO_FOLDS,
    pastes: Container[Key] = frozenset(),
) -> Plan:
    """Show every text in the shortest way that loses nothing.

    The messages in *whole* stay as they are, for the reason given; nothing refers to those in
    *hidden*, which cannot be read anymore. With *shown*, lines that were shown before are left out.
    *prose* has folds of prose, by the index of their first message; other texts of these messages
    are re-encoded. *pastes* count as tool results.
    """
    rereads = dict(_find_rereads(messages, whole, hidden, pastes))
    plan: list[Fold] = []
    end = 0
    for message in messages:
        if message.index < end:
            continue  # part of the fold before it
        own_prose = prose.get(message.index)
        if message.index in whole:
            fold = kept_fold(message, whole[message.index])
        elif own_prose is not None and len(own_prose.sources) > 1:
            fold, end = own_prose, own_prose.sources[-1].index + 1
        else:
            fold = fold_lossless(message, rereads, recoded, tokens, shown=shown, prose=own_prose)
        if shown is not None and message.index not in hidden:
            note_shown(fold, message, shown)
        plan.append(fold)
    return tuple(plan)


def cost_lossless(
    messages: Sequence[Message],
    whole: Container[int],
    recoded: Mapping[Key, Recoded],
    tokens: CountedTexts,
) -> int:
    """Return the tokens of what `plan_lossless` would plan, without making the plan.

    Most such plans are only compared by their cost.
    """
    rereads = dict(_find_rereads(messages, whole, frozenset()))
    shorter = {index for index, _ in (*rereads, *recoded)}
    return sum(
        tokens.fold(fold_lossless(message, rereads, recoded, tokens))
        if message.index in shorter
        else tokens.message(message)
        for message in messages
    )


def fold_lossless(
    message: Message,
    rereads: Mapping[Key, Recoded],
    recoded: Mapping[Key, Recoded],
    tokens: CountedTexts,
    *,
    shown: Shown | None = None,
    prose: Fold | None = None,
) -> Fold:
    """Re-encode the texts of *message*, except for its *prose*, which is folded already."""
    texts: dict[int, str] = {} if prose is None else dict(prose.texts)
    rows: list[Outcome] = []
    for number, part in enumerate(message.parts):
        if prose is not None and prose.outcomes[0][number].reason != NOT_PROSE:
            rows.append(prose.outcomes[0][number])
            continue
        best, why = part.text, "nothing_to_gain"
        key = (message.index, number)
        ways = [rereads.get(key), recoded.get(key)]
        if shown is not None and message.is_result(part) and not is_marked(part.text):
            ways.append(_without_shown(part, recoded.get(key), shown))
        for made in filter(None, ways):
            text = made.marked(handle_of([message]))
            if tokens(text) < tokens(best) and len(text) < len(best):
                best, why = text, made.why
        if best is not part.text:
            texts[number] = best
        action = "preserved" if best is part.text else "recoded"
        rows.append(Outcome(action, why, len(part.text), len(best)))
    if not rows:
        rows.append(Outcome("preserved", "short_content", 0, 0))
    return Fold(sources=(message,), texts=texts, outcomes=(tuple(rows),))


def _without_shown(part: Part, recoded: Recoded | None, shown: Shown) -> Recoded | None:
    """Leave out lines of a result, re-encoded or not, that were shown before."""
    text = shown.shorten(recoded.text if recoded else part.text)
    if text is None:
        return None
    return Recoded(text, f"{recoded.why},shown" if recoded else "recoded:shown")


def note_shown(fold: Fold, message: Message, shown: Shown) -> None:
    """Note what a reader sees of *message*: its results, and long texts in its calls."""
    for number, part in enumerate(message.parts):
        if message.is_result(part):
            shown.add(fold.texts.get(number, part.text))
    for call in message.calls:
        for text in texts_in(call):
            shown.add(text)


def texts_in(call: Call) -> Iterator[str]:
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


class Reads:
    """What calls have returned so far, so that a text that comes again can refer to the first."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._seen: dict[str, Call | None] = {}
        self._by_call: dict[str, str] = {}

    def call_of(self, part: Part) -> Call | None:
        """Return the call that returned *part*, if it was seen."""
        return self._calls.get(part.call_id or "")

    def find(
        self,
        message: Message,
        *,
        is_whole: bool = False,
        is_hidden: bool = False,
        pastes: Container[Key] = frozenset(),
    ) -> Iterator[tuple[Key, Recoded]]:
        """Yield the results and *pastes* of the next message that repeat one, exactly or nearly.

        None of a message that stays *whole*; later ones do not refer to one that is *hidden*.
        """
        self._calls.update((call.id, call) for call in message.calls)
        for number, part in enumerate(message.parts):
            is_data = message.is_result(part) or (message.index, number) in pastes
            if not is_data or len(part.text) < _MIN_REREAD or is_marked(part.text):
                continue
            call = self.call_of(part)
            if not is_whole and part.text in self._seen:
                yield (message.index, number), Recoded(_name_call(self._seen[part.text]), _COPY)
                continue
            earlier = self._by_call.get(call.text) if call else None
            if not is_whole and earlier is not None:
                diff = changes(part.text, earlier)
                if diff is not None:
                    yield (message.index, number), Recoded(diff, "changed_read")
                    continue
            if not is_hidden:
                self._seen[part.text] = call
                if call:
                    self._by_call[call.text] = part.text


def _find_rereads(
    messages: Sequence[Message],
    whole: Container[int],
    hidden: Container[int],
    pastes: Container[Key] = frozenset(),
) -> Iterator[tuple[Key, Recoded]]:
    """Yield the results and *pastes* that repeat an earlier one, exactly or nearly."""
    reads = Reads()
    for message in messages:
        index = message.index
        yield from reads.find(
            message, is_whole=index in whole, is_hidden=index in hidden, pastes=pastes
        )


def _name_call(call: Call | None) -> str:
    """Return an earlier call on one line, so that a model recognizes it; "" if it takes more."""
    given = call.arguments or {} if call else {}
    name = " ".join([call.name, *(f"{k}={flat(v)}" for k, v in given.items())]) if call else ""
    return "" if "\n" in name else name
