"""What is being asked about now: evidence for it is worth more, and the question is no evidence.

The last message that a person typed, the agent's newest words and calls that wait for an answer name
what comes next. A line of a log that holds the id which is asked about must not be left out because
the id stands in the question already.
"""

from __future__ import annotations

from collections.abc import Container, MutableSequence, Sequence
from typing import Final

from refold.budget.blocks import open_calls
from refold.model.message import Message
from refold.planner.field import Field, Text
from refold.planner.items import Shape, find_items

_ASKED_VALUE: Final = 3.0
"""What a value that is asked about is worth; one that surely comes back is worth 1."""
_ASKED_WORD: Final = 0.4
"""The same for a rare word: several of them together find a sentence."""
_RARE_TURNS: Final = 3
"""Words that more turns than this say, the question among them, find nothing."""


def find_asking(messages: Sequence[Message]) -> frozenset[int]:
    """Return the messages that say what is wanted next."""
    turns = [message for message in messages if message.is_turn]
    asking = set(open_calls(messages))
    for role in ("user", "assistant"):
        said = [m.index for m in turns if m.role == role and not m.is_tool_result]
        asking.update(said[-1:])
    return frozenset(asking)


def raise_asked(
    texts: Sequence[Text],
    asking: Container[int],
    field: Field,
    worths: MutableSequence[float],
) -> frozenset[int]:
    """Raise in *worths* what the messages in *asking* name; return the rows of those items."""
    survey = field.survey
    asked: set[int] = set()
    for text in texts:
        if text.message.index not in asking:
            continue
        for item in find_items(text.text):
            row = survey.number.get(item)
            if row is None or row in asked:
                continue
            if survey.shape[row] < Shape.WORD:
                worths[row] += _ASKED_VALUE
            elif survey.turns[row] <= _RARE_TURNS:
                worths[row] += _ASKED_WORD
            else:
                continue
            asked.add(row)
    return frozenset(asked)
