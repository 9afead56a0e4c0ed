"""Shorten prose to its acts: the passages that ask, decide, forbid, limit or explain come first.

Costs are counted in tokens, so that a summary has the same room in every script.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from refold.notation.marks import more
from refold.options import Depth
from refold.plan.shorten.prose import ELLIPSIS, JOINT, Score, char_budget, spread
from refold.scan.acts import act_worth
from refold.scan.passages import Passage, closers, read_passages
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.truncate import cut_words

_CHARS_PER_TOKEN: Final = 4
"""In English prose; converts the limits of `classic`, in characters, to those of `standard`."""
_PLAIN: Final = 2
"""A passage that is worth less is filler: shown only if a summary would be nearly empty."""
_PLAIN_SHARE: Final = 0.5
"""Up to this share of its room, a summary is filled with plain passages. On recorded answers of
assistants, more of them added tokens but hardly any facts that later turns use."""
_LEAD: Final = 1
"""A bonus for the best passage of each paragraph, so that a summary covers all of them."""
_REPEATED: Final = 3
"""A penalty for a line that differs from an earlier one in its numbers only."""
_LENGTH: Final = 20
"""So many tokens cost a passage one point, so that the shorter of two equals wins."""
_NOTHING: Final = -9
"""Less than any act is worth, filler included: never chosen by itself."""
_WORDY: Final = 8
"""Filler of more words may hold what a pronoun after it refers to."""
_LONGEST_GROUP: Final = 3
"""The most passages in a group of one that brings along others."""
_FIGURE: Final = re.compile(r"[0-9]++")


def token_budget(tokens: int, depth: Depth = "gentle") -> int:
    """Return how many tokens a summary of a text of so many *tokens* may have.

    The same as `char_budget`, at four characters per token.
    """
    return char_budget(tokens, depth, unit=_CHARS_PER_TOKEN)


class Extract:
    """The passages of a text, with what each is worth, costs and needs, as columns."""

    __slots__ = ("costs", "needs", "passages", "worths")

    def __init__(
        self,
        passages: list[Passage],
        worths: Sequence[Score],
        costs: list[int],
        needs: list[int],
    ) -> None:
        self.passages: Final = passages
        self.worths: Final = worths
        self.costs: Final = costs
        self.needs: Final = needs
        """The place of the passage that is needed to understand each, or -1."""

    @property
    def texts(self) -> list[str]:
        """The texts of the passages."""
        return [passage.text for passage in self.passages]


def read_extract(text: str) -> Extract:
    """Read the passages of *text*; repeated ones are worth nothing."""
    passages = read_passages(text)
    worths: list[Score] = []
    known: set[str] = set()
    for passage in passages:
        said = passage.text
        shape = _FIGURE.sub("0", said)
        if passage.is_markup or said in known:
            worths.append(_NOTHING)
        else:
            worth = act_worth(said) - _REPEATED * (shape in known)
            worths.append(max(worth, _PLAIN) if passage.is_item and passage.needs >= 0 else worth)
        known.add(said)
        known.add(shape)
    needs = [_resolve(passages, worths, place) for place in range(len(passages))]
    return Extract(passages, worths, [estimate_tokens(p.text) + 1 for p in passages], needs)


def _resolve(passages: list[Passage], worths: Sequence[Score], place: int) -> int:
    """Return what the passage at *place* needs: its heading, or what its first words refer to.

    That is the sentence before, or the one before that if only that one is more than filler.
    """
    need = passages[place].needs
    if need < 0 or passages[need].is_heading:
        return need
    before = need - 1
    if worths[need] < _PLAIN and before >= 0 and worths[before] >= _PLAIN:
        is_near = passages[before].paragraph == passages[place].paragraph
        need = before if is_near else need
    return need if worths[need] >= 0 or passages[need].text.count(" ") >= _WORDY else -1


def summarize_extracts(extracts: Sequence[Extract], budget: int) -> str:
    """Join the best passages in *budget* tokens, at least one of each text."""
    both = _join(extracts)
    if not both.passages:
        return ""
    first: list[int] = []
    before = 0
    for one in extracts if len(extracts) > 1 else ():
        if one.worths and max(one.worths) >= 0:
            first.append(before + list(one.worths).index(max(one.worths)))
        before += len(one.passages)
    chosen = _choose(both, budget, first)
    if not chosen:
        best = list(both.worths).index(max(both.worths))
        return cut_passage(both.passages[best].text, budget)
    return _write(both, chosen)


def _join(extracts: Sequence[Extract]) -> Extract:
    """Put the passages of several texts one after the other, to choose from them together."""
    if len(extracts) == 1:
        return extracts[0]
    both = Extract([], [], [], [])
    worths: list[Score] = []
    for one in extracts:
        before = len(both.passages)
        both.passages.extend(one.passages)
        both.costs.extend(one.costs)
        both.needs.extend([need + before if need >= 0 else -1 for need in one.needs])
        worths.extend(one.worths)
    return Extract(both.passages, worths, both.costs, both.needs)


def _choose(extract: Extract, budget: int, first: Sequence[int]) -> list[int]:
    """Choose passages for *budget* tokens; return their places in reading order.

    Those in *first* are in, whatever they cost; then come the others with what they need, the
    better the earlier.
    """
    taken: set[int] = set(first)
    left = budget + 1 - sum([extract.costs[place] for place in first])
    plain_from = budget * (1 - _PLAIN_SHARE)
    for place in _ranked(extract):
        worth = extract.worths[place]
        if place in taken or (worth < _PLAIN and left < plain_from):
            continue
        group = [one for one in _group(extract, place) if one not in taken]
        cost = sum([extract.costs[one] for one in group])
        if cost <= left:
            taken.update(group)
            left -= cost
    return sorted(taken)


def _group(extract: Extract, place: int) -> list[int]:
    """Return *place* and the places of what is needed to understand it."""
    group = [place]
    while len(group) < _LONGEST_GROUP and extract.needs[group[-1]] >= 0:
        group.append(extract.needs[group[-1]])
    return group


def _ranked(extract: Extract) -> list[int]:
    """Order the passages that may be chosen by themselves, the best first.

    Among equals, sentences are spread over the text, and lists start with their first items.
    """
    passages, worths = extract.passages, extract.worths
    best: dict[int, int] = {}
    for place, passage in enumerate(passages):
        known = best.get(passage.paragraph)
        if known is None or worths[place] > worths[known]:
            best[passage.paragraph] = place
    leads: set[int] = set(best.values()) if len(best) > 1 else set()
    keys = [
        (
            _length(extract, place) - worths[place] - _LEAD * (place in leads),
            place if passages[place].is_item else order,
        )
        for order, place in enumerate(spread(len(passages)))
    ]
    places = spread(len(passages))
    ranked = sorted(range(len(passages)), key=keys.__getitem__)
    return [
        place
        for place in (places[order] for order in ranked)
        if worths[place] >= 0 and not passages[place].is_heading
    ]


def _length(extract: Extract, place: int) -> float:
    """Return the points that its length costs a passage; items of lists cost none."""
    return 0.0 if extract.passages[place].is_item else extract.costs[place] / _LENGTH


def _write(extract: Extract, chosen: Sequence[int]) -> str:
    """Join the passages at *chosen*, with a mark where something is left out.

    The last shown item of a list is followed by the number of items that are left out.
    """
    passages = extract.passages
    left_out = _items_left_out(passages, chosen)
    pieces: list[str] = []
    before = -1
    for place in chosen:
        passage = passages[place]
        if before >= 0:
            is_list = passage.is_item or passages[before].is_item
            next_to = place == before + 1 and before not in left_out
            pieces.append(passage.gap if next_to else "\n" if is_list else JOINT)
        pieces.append(passage.text)
        if place in left_out:
            pieces.append(f"\n{more(left_out[place], 'item')}")
        before = place
    return "".join(pieces)


def _items_left_out(passages: list[Passage], chosen: Sequence[int]) -> dict[int, int]:
    """Map the last item that is shown of each list to how many of its items are not."""
    found: dict[int, int] = {}
    shown = set(chosen)
    last, hidden = -1, 0
    for place, passage in enumerate(passages):
        if not passage.is_item:
            _note(found, last, hidden)
            last, hidden = -1, 0
        elif place in shown:
            last = place
        else:
            hidden += 1
    _note(found, last, hidden)
    return found


def _note(found: dict[int, int], last: int, hidden: int) -> None:
    if last >= 0 and hidden:
        found[last] = hidden


def cut_passage(said: str, budget: int) -> str:
    """Cut a passage to *budget* tokens, between words, and close open brackets and quotes."""
    tokens = estimate_tokens(said)
    if tokens <= budget:
        return said
    short = cut_words(said, max(1, len(said) * max(budget - 1, 1) // tokens))
    tag = short.rfind("<")
    if tag > 0 and short.find(">", tag) < 0:
        short = short[:tag].rstrip()
    return f"{short}{ELLIPSIS}{closers(short)}"
