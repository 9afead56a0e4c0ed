"""agno: `Agent(compression_manager=RefoldCompression(), compress_tool_results=True)`.

A tool result is shortened once, before it is first sent: the short form goes into its
`compressed_content`, which is what agno sends, and `content` stays as it was. Nothing is asked of a
model. Also give the agent `RefoldCompression.tool`, so that the model can fetch originals.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Final, Unpack

from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from agno.models.message import Message
    from agno.tools.function import Function
except ImportError as error:
    raise missing("agno", "agno") from error

_model: Final[ContextVar[str | None]] = ContextVar("refold_agno_model", default=None)
"""The model of the run in this task or thread: agno only names it in `should_compress`."""


class RefoldCompression(Integration):
    """Takes the place of agno's `CompressionManager`; one may serve many runs at once."""

    # agno sends every message, so what was sent can only stay as it is.
    _only_on_arrival: ClassVar = True

    def __init__(self, **choices: Unpack[Choices]) -> None:
        super().__init__(**choices)
        self.compress_tool_results = True
        self.model = "refold"
        """agno would set its own model if this were empty."""
        self.stats: dict[str, Any] = {}
        """Figures of the last pass, as agno shows them."""

    @property
    def tool(self) -> Function:
        """Fetches originals; goes into the tools of the agent."""
        described = describe_retrieve()
        return Function(entrypoint=self.look_up, skip_entrypoint_processing=True, **described)

    def should_compress(
        self,
        messages: Sequence[Message],
        tools: object = None,
        model: object = None,
        response_format: object = None,
    ) -> bool:
        """Return whether there are tool results that no model has seen yet."""
        del tools, response_format
        name = getattr(model, "id", None)
        _model.set(name if isinstance(name, str) else None)
        return bool(_fresh(messages))

    async def ashould_compress(self, *args: Any, **kwargs: Any) -> bool:
        """Do what `should_compress` does."""
        return self.should_compress(*args, **kwargs)

    def compress(self, messages: Sequence[Message], run_metrics: object = None) -> None:
        """Add short forms to the results that no model has seen yet."""
        del run_metrics
        self._adopt(messages, self._fold(messages, model=_model.get()))

    async def acompress(self, messages: Sequence[Message], run_metrics: object = None) -> None:
        """Do the same without blocking the event loop."""
        del run_metrics
        self._adopt(messages, await self._afold(messages, model=_model.get()))

    def _adopt(self, messages: Sequence[Message], folded: Sequence[Message]) -> None:
        """Copy the short forms of fresh results; there is one message for each."""
        assert self.last is not None, "it was just folded"
        fresh = _fresh(messages)
        for place in fresh:
            short = folded[place]
            if short is not messages[place]:
                messages[place].compressed_content = short.content
        report = self.last.report
        self.stats = {
            "messages_compressed": len(fresh),
            "original_size": report.tokens_unfolded,
            "compressed_size": report.tokens,
        }


def _fresh(messages: Sequence[Message]) -> list[int]:
    """Return the places of tool results after the last answer of the model."""
    places: list[int] = []
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "assistant":
            break
        if messages[place].role == "tool" and messages[place].compressed_content is None:
            places.append(place)
    return places[::-1]
