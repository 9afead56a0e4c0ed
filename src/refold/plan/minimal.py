"""The smallest valid plan: untouchable messages, and one line for each stretch between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from refold.lazy import Lazy
from refold.messages.message import Message
from refold.plan.blocks import find_blocks
from refold.plan.corpus import Text, open_texts, read_texts
from refold.plan.fold import Fold, Outcome, Piece, Plan, kept_fold
from refold.plan.layout import Frames, Layout, Place
from refold.plan.sealing import anchor_tokens
from refold.plan.token_count import CountedTexts
from refold.plan.untouchable import find_last_words
from refold.plan.writing import with_calls, write_digest, write_excerpt, write_line


def plan_minimal(
    messages: Sequence[Message], untouchable: Mapping[int, str], tokens: CountedTexts
) -> Plan:
    """Keep the *untouchable* messages, each for its reason, and show nothing of the rest.

    What is tied to one of them, such as the call that a message with the user's last words answers,
    stays in its place; each stretch between them is a digest.
    """
    last_words = frozenset((message.index, n) for message, n in find_last_words(messages))
    places = _find_places(messages, untouchable, {index for index, _ in last_words})
    layout = Layout(places, dict(untouchable), last_words)
    texts = _read_excerpts(messages, layout, tokens)
    frames = Frames(tokens)
    plan: list[Fold] = []
    for place, run in groupby(messages, lambda message: places[message.index]):
        match place:
            case Place.WHOLE:
                plan += [kept_fold(message, untouchable[message.index]) for message in run]
            case Place.EXCERPT:
                for message in run:
                    excerpt = write_excerpt(message, texts.get(message.index, {}), {})
                    plan.append(_explained(with_calls(excerpt, frames.calls(message)), tokens))
            case Place.DIGEST:
                plan += _digest(list(run), tokens)
    return tuple(plan)


def _find_places(
    messages: Sequence[Message], untouchable: Mapping[int, str], spoken: set[int]
) -> list[Place]:
    stays = {index for index in untouchable if messages[index].is_turn} | spoken
    places = [Place.DIGEST] * len(messages)
    for block in find_blocks(messages):
        if not stays.isdisjoint(block):
            places[block.start : block.stop] = [Place.EXCERPT] * len(block)
    for index in untouchable:
        if messages[index].is_turn:
            places[index] = Place.WHOLE
    for is_turn, run in groupby(messages, lambda message: message.is_turn):
        if not is_turn:  # a digest reaches over records that no model sees, if it goes on there
            notes = [message.index for message in run]
            around = {*places[max(0, notes[0] - 1) : notes[0]], *places[notes[-1] + 1 :][:1]}
            for index in notes:
                places[index] = Place.DIGEST if around == {Place.DIGEST} else Place.WHOLE
    return places


def _read_excerpts(
    messages: Sequence[Message], layout: Layout, tokens: CountedTexts
) -> Mapping[int, Mapping[int, Text]]:
    """Return the texts of what stays in its place, with those that give way open."""
    stays = [message for message in messages if layout.places[message.index] is Place.EXCERPT]
    found: defaultdict[int, dict[int, Text]] = defaultdict(dict)
    for text in open_texts(read_texts(stays, tokens, {}), layout, frozenset()):
        found[text.message.index][text.part] = text
    return found


def _digest(stretch: Sequence[Message], tokens: CountedTexts) -> Iterator[Fold]:
    """Write a stretch as a digest, if that is shorter even with an anchor."""
    digest = write_digest(stretch, [write_line(message, {}, {}) for message in stretch])
    cost = tokens.fold(digest) + anchor_tokens(tokens, is_kept=False)
    if cost < sum(map(tokens.message, stretch)):
        yield _explained(digest, tokens)
    else:
        yield from (kept_fold(message, "short_content") for message in stretch)


def _explained(fold: Fold, tokens: CountedTexts) -> Fold:
    """Let every text that gave way say so."""
    rows = zip(fold.sources, fold.outcomes, strict=True)
    return fold.changed(
        outcomes=tuple(tuple(_explain(message, row, tokens)) for message, row in rows)
    )


def _explain(message: Message, row: Sequence[Outcome], tokens: CountedTexts) -> Iterator[Outcome]:
    parts = range(len(message.parts))
    for number, outcome in enumerate(row):
        match outcome.action:
            case "digested":
                yield outcome.with_pieces(Lazy(partial(_pieces, message, parts, tokens)))
            case "excerpted":
                yield outcome.with_pieces(Lazy(partial(_pieces, message, [number], tokens)))
            case _:
                yield outcome


def _pieces(message: Message, parts: Iterable[int], tokens: CountedTexts) -> tuple[Piece, ...]:
    """Return the texts of *message* as pieces for which there was no room."""
    texts = [(number, message.parts[number].text) for number in parts]
    return tuple(
        Piece(
            text=text,
            is_kept=False,
            reason="no_room",
            tokens=tokens(text),
            part=number,
            first_line=1,
            last_line=1 + text.count("\n") - text.endswith("\n"),
        )
        for number, text in texts
        if text
    )
