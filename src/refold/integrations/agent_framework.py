"""Microsoft Agent Framework: `Agent(client=…, compaction_strategy=RefoldStrategy())`.

What is sent to the model is folded; the messages of the caller, the session and the response stay
as they were. Also give the agent `RefoldStrategy.tool`, so that the model can fetch originals.
"""

from __future__ import annotations

from operator import is_not
from typing import ClassVar

from refold.integrations import mirror
from refold.integrations.choices import missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from agent_framework import Content, FunctionTool, Message
except ImportError as error:
    raise missing("agent-framework-core", "agent_framework") from error


def _block(content: Content) -> mirror.Block:
    match content.type:
        case "text":
            return mirror.text(content.text or "")
        case "text_reasoning":
            return mirror.thought(content.text or "")
        case "function_call":
            return mirror.call(content.call_id, content.name, content.arguments)
        case "function_result" if all(item.type == "text" for item in content.items or ()):
            return mirror.result(content.call_id, str(content.result or ""))
    return mirror.other(content.type)


def _piece(old: Content | None, text: str) -> Content:
    if old is None or old.type == "text":
        return Content.from_text(text)
    return Content.from_function_result(
        old.call_id or "", id=old.id, result=text, exception=old.exception
    )


def _message(old: Message | None, role: str, contents: list[Content]) -> Message:
    if old is None:
        return Message(role, contents)
    return Message(
        old.role,
        contents,
        author_name=old.author_name,
        message_id=old.message_id,
        additional_properties=dict(old.additional_properties or {}),
    )


class RefoldStrategy(Integration):
    """A compaction strategy; one may serve many agents."""

    _mirror: ClassVar = mirror.Mirror(
        lambda message: (str(message.role), message.contents), _block, _piece, _message
    )
    _keeps_what_was_sent: ClassVar = True

    async def __call__(self, messages: list[Message]) -> bool:
        """Replace messages in the list that the framework sends; return whether any changed."""
        # The list has what earlier calls put into it, and every fold starts from the originals.
        before = list(messages)
        messages[:] = await self._afold(mirror.originals_of(before))
        return len(before) != len(messages) or any(map(is_not, before, messages))

    @property
    def tool(self) -> FunctionTool:
        """Fetches originals; goes into the tools of the agent."""
        return FunctionTool(func=self.alook_up, **describe_retrieve("input_model"))
