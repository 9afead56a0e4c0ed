"""Ask a cheap summarizer first and a better one only if that did not help."""

from __future__ import annotations

from dataclasses import replace

from refold.errors import ConfigError, describe
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    Usage,
    as_summarizer,
    usage_of,
)


class Escalating:
    """Asks *inner* in turn until one gives an answer that is not empty and shorter than the text.

    The last one has the last word: its answer is returned and its error raised, whatever they are.
    The answer's usage includes what the useless answers before it have cost.
    """

    def __init__(self, *inner: Summarizer | TextFunction) -> None:
        if not inner:
            raise ConfigError("Escalating needs at least one summarizer, got none")
        *self._first, self._last = map(as_summarizer, inner)

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return the first useful answer."""
        spent = Usage()
        problems: list[str] = []
        for summarizer in self._first:
            try:
                answer = await summarizer.summarize(request)
            except Exception as error:  # noqa: BLE001 - foreign code may raise anything
                problems.append(describe(error))
                spent += usage_of(error)
                continue
            if _is_useful(answer, request):
                return _charged(answer, spent)
            problems.append("its answer was not shorter" if answer.text.strip() else "no answer")
            spent += answer.usage
        try:
            answer = await self._last.summarize(request)
        except Exception as error:
            for number, problem in enumerate(problems, start=1):
                error.add_note(f"summarizer {number}, asked before: {problem}")
            raise
        return _charged(answer, spent)


def _is_useful(answer: Summary, request: SummaryRequest) -> bool:
    return bool(answer.text.strip()) and len(answer.text) < len(request.text)


def _charged(answer: Summary, spent: Usage) -> Summary:
    if spent == Usage():
        return answer
    return replace(answer, usage=spent + answer.usage)
