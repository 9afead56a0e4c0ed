"""The smallest valid plan: untouchable messages, and one line for each stretch between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from refold.lazy import Lazy
from refold.messages.blocks import find_blocks
from refold.messages.folds import Fold, Outcome, Plan
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.messages.untouchable import find_last_words
from refold.plan.corpus import open_texts, read_texts
from refold.plan.layout import Layout, Place, PlaceCosts, digest_notes
from refold.plan.sealing import anchor_tokens
from refold.plan.writing import PlanWriter
from refold.result import Piece


def plan_minimal(
    messages: Sequence[Message], untouchable: Mapping[int, str], tokens: CountedTexts
) -> Plan:
    """Keep the *untouchable* messages, each for its reason, and show nothing of the rest.

    What is tied to one of them, such as the call that a message with the user's last words answers,
    stays in its place; each stretch between them is a digest.
    """
    layout = _lay_out(messages, untouchable, tokens)
    in_place = [message for message in messages if layout.places[message.index] is Place.EXCERPT]
    writer = PlanWriter(
        messages,
        open_texts(read_texts(in_place, tokens, {}), layout, frozenset()),
        layout,
        tokens,
        anchor_tokens=anchor_tokens(tokens),
        kept_reason="short_content",
    )
    plan, _ = writer.write({})
    return tuple(fold if fold.is_kept else _explained(fold, tokens) for fold in plan)


def _lay_out(
    messages: Sequence[Message], untouchable: Mapping[int, str], tokens: CountedTexts
) -> Layout:
    last_words = frozenset((message.index, n) for message, n in find_last_words(messages))
    stays = {index for index in untouchable if messages[index].is_turn}
    stays.update(index for index, _ in last_words)
    places = [Place.DIGEST] * len(messages)
    for block in find_blocks(messages):
        if not stays.isdisjoint(block):
            places[block.start : block.stop] = [Place.EXCERPT] * len(block)
    for index in untouchable:
        places[index] = Place.WHOLE
    digest_notes(messages, places, at_ends=True)
    in_place = (message for message in messages if places[message.index] is Place.EXCERPT)
    calls = PlaceCosts(tokens).find_calls(in_place)
    return Layout(places, dict(untouchable), last_words, calls=calls)


def _explained(fold: Fold, tokens: CountedTexts) -> Fold:
    """Let every text that was dropped say so."""
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
    """Return texts of *message*, each as one piece for which there was no room."""
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
