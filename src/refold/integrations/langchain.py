"""LangChain agents: `create_agent(model, tools, middleware=[RefoldMiddleware()])`.

Works in LangGraph and deepagents as well. What is sent to the model is folded; state and
checkpoints keep every message as it was. List it before (outside of) middleware that sets cache
points.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Unpack

from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain.tools import ToolRuntime
    from langchain_core.tools import StructuredTool
except ImportError as error:
    raise missing("langchain 1.0 or newer", "langchain") from error


class RefoldMiddleware(Integration, AgentMiddleware):
    """Folds what an agent sends to its model, and brings the tool that fetches originals."""

    def __init__(self, **choices: Unpack[Choices]) -> None:
        super().__init__(**choices)
        self.tools = [self._retrieve_tool()]

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Send what the model needs of the messages in the state, which stays as it is."""
        messages = self._fold(request.messages, **_about(request))
        return handler(request.override(messages=messages))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Do the same without blocking the event loop."""
        messages = await self._afold(request.messages, **_about(request))
        return await handler(request.override(messages=messages))

    def _retrieve_tool(self) -> StructuredTool:
        def retrieve(runtime: ToolRuntime, **arguments: Any) -> str:
            return self.conversations.retrieve(arguments, **_where(runtime))

        async def aretrieve(runtime: ToolRuntime, **arguments: Any) -> str:
            return await self.conversations.aretrieve(arguments, **_where(runtime))

        for function in (
            retrieve,
            aretrieve,
        ):  # LangChain reads it at run time, and here annotations are strings
            function.__annotations__["runtime"] = ToolRuntime
        return StructuredTool(
            func=retrieve, coroutine=aretrieve, **describe_retrieve("args_schema")
        )


def _about(request: ModelRequest) -> dict[str, Any]:
    """Return the arguments of a fold: the model, the thread, system prompt and tools."""
    model = request.model
    names = (getattr(model, name, None) for name in ("model_name", "model", "model_id"))
    system = request.system_message
    tools = [getattr(tool, "description", tool) for tool in request.tools]
    return {
        "model": next((name for name in names if isinstance(name, str)), None),
        "conversation": _thread_of(_config()),
        "beside": [None if system is None else system.content, *map(str, tools)],
    }


def _where(runtime: ToolRuntime) -> dict[str, Any]:
    state = runtime.state
    messages = state.get("messages", ()) if isinstance(state, dict) else ()
    return {"messages": messages, "conversation": _thread_of(runtime.config)}


def _config() -> Any:
    from langgraph.config import get_config

    try:
        return get_config()
    except RuntimeError:  # outside of a graph
        return {}


def _thread_of(config: Any) -> str | None:
    thread = config.get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread)
