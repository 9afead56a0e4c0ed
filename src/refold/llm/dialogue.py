"""A dialogue with a model about one text: ask, check, ask once more, use the answer or none."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Final

from refold.llm.ask import Questions, Tally
from refold.llm.checks import Source, check, complete
from refold.llm.summarizers.base import SummaryRequest
from refold.result import RefusedAnswer

_MAX_ANSWERS: Final = 2
"""The first answer, and one that knows what the first lacked; after that the rules do it."""
_MIN_ANSWER_TOKENS: Final = 40
"""Room for a sentence or two, however short the text is. A guess."""
_ANSWER_SHARE: Final = 0.4
"""About how long an answer should be, compared with its text."""


def dialogue(
    source: Source, questions: Questions, tally: Tally
) -> Generator[SummaryRequest, str | None, str | None]:
    """Ask for a summary, at most twice; return what may be used, if anything.

    An answer is used as written, with what it lacks as its last line.
    """
    room = questions.rooms.get(source.text)
    most = max(_MIN_ANSWER_TOKENS, int(_ANSWER_SHARE * source.tokens))
    request = SummaryRequest(
        text=source.text,
        max_tokens=most if room is None else room,
        context=questions.contexts.get(source.text, ""),
    )
    for _ in range(_MAX_ANSWERS):
        answer = yield request
        if answer is None:
            break
        answer = answer.strip()
        refusals = check(source, answer, is_free=questions.is_free)
        used = complete(source, answer, refusals, room)
        if used is not None:
            tally.repaired += used != answer
            tally.accepted += used == answer
            return used
        tally.refused += (RefusedAnswer(check=one.check, why=one.why) for one in refusals)
        missing = tuple(dict.fromkeys(fact for one in refusals for fact in one.missing))
        # With nothing to name, the same question would get the same answer: ask for less.
        tokens = request.max_tokens if missing else request.max_tokens // 2
        request = replace(request, max_tokens=tokens, must_keep=missing)
    return None
