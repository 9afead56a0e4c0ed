"""Microsoft Agent Framework: `Agent(client=…, compaction_strategy=RefoldStrategy())`.

What is sent to the model is folded; the messages of the caller, the session and the response stay
as they were. Also give the agent `RefoldStrategy.tool`, so that the model can fetch originals.
Messages are never merged into one summary, so folds save less than in other integrations.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Unpack

from refold.integrations import mirror
from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from agent_framework import Content, FunctionTool, Message
except ImportError as error:
    raise missing("agent-framework-core", "agent_framework") from error

_ORIGINAL: Final = "_refold_original"
"""The attribute with which a shortened message refers to its original."""


class RefoldStrategy(Integration):
    """A compaction strategy; one may serve many agents."""

    _own_choices: ClassVar = {"same_count": True}

    def __init__(self, **choices: Unpack[Choices]) -> None:
        super().__init__(**choices)
        self.tool = self._retrieve_tool()
        """Fetches originals; goes into the tools of the agent."""

    async def __call__(self, messages: list[Message]) -> bool:
        """Replace messages in the list that the framework sends; return whether any changed."""
        # The list has what earlier calls put into it, and every fold starts from the originals.
        originals = [getattr(message, _ORIGINAL, message) for message in messages]
        mirrored = [_mirror(message) for message in originals]
        folded = await self._afold(mirrored, format=mirror.FORMAT)
        is_changed = False
        triples = zip(originals, mirrored, folded, strict=True)
        for place, (original, before, after) in enumerate(triples):
            shown = original if after is before else _rewrite(original, before, after)
            is_changed = is_changed or shown is not messages[place]
            messages[place] = shown
        return is_changed

    def _retrieve_tool(self) -> FunctionTool:
        async def retrieve(**arguments: Any) -> str:
            return await self.conversations.aretrieve(arguments)

        return FunctionTool(func=retrieve, **describe_retrieve("input_model"))


def _mirror(message: Message) -> dict[str, Any]:
    blocks = [_block(place, content) for place, content in enumerate(message.contents)]
    return mirror.message(str(message.role), blocks)


def _block(place: int, content: Content) -> dict[str, Any]:
    match content.type:
        case "text":
            return mirror.text(place, content.text or "")
        case "text_reasoning":
            return mirror.thought(place, content.text or "")
        case "function_call":
            id_, name = content.call_id or "", content.name or ""
            return mirror.call(place, id_, name, content.arguments)
        case "function_result" if all(item.type == "text" for item in content.items or ()):
            return mirror.result(place, content.call_id or "", str(content.result or ""))
    return mirror.other(place, content.type)


def _rewrite(message: Message, before: dict[str, Any], after: dict[str, Any]) -> Message:
    contents = mirror.rewrite(
        message.contents, before, after, new_text=Content.from_text, new_result=_new_result
    )
    short = Message(
        message.role,
        contents,
        author_name=message.author_name,
        message_id=message.message_id,
        additional_properties=dict(message.additional_properties or {}),
    )
    setattr(short, _ORIGINAL, message)
    return short


def _new_result(content: Content, text: str) -> Content:
    return Content.from_function_result(
        content.call_id or "", id=content.id, result=text, exception=content.exception
    )
