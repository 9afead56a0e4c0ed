"""The MCP server, on stdio or over HTTP: `Tools` for every client that speaks the protocol."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from typing import Any, Final

from refold.errors import ConfigError, RefoldError
from refold.server.tools import COMPRESS, RETRIEVE, STATS, Tools

_NAME: Final = "refold"
_HOST: Final = "127.0.0.1"
_MAX_BODY: Final = 64 * 2**20
"""The most one request may have; the SDK's own limit, 4 MiB, is less than a long conversation."""
_META: Final = {name: {"anthropic/alwaysLoad": False} for name in (COMPRESS, STATS)}
"""Only retrieval has to be in sight of a model all the time; Claude Code finds these by search."""
_INSTRUCTIONS: Final = (
    "Results of tools may be shown shortened, with a handle such as #kdbfq at their end. "
    f"{RETRIEVE} returns the whole text behind a handle, some of its lines, or those with a word."
)


def make_server(tools: Tools) -> Any:
    """Return the `Server` of the SDK that answers with *tools*.

    Raises:
        ConfigError: the SDK is not installed, or too old.
    """
    try:
        import mcp_types as types
        from mcp.server import Server
    except ImportError as error:
        raise ConfigError(
            "the MCP server needs the official SDK, version 2 or newer: pip install 'refold[mcp]'"
        ) from error

    async def list_tools(_context: Any, _params: Any) -> Any:
        listed = [types.Tool(**tool, _meta=_META.get(tool["name"])) for tool in tools.describe()]
        return types.ListToolsResult(tools=listed)

    async def call_tool(_context: Any, params: Any) -> Any:
        try:
            answer = await asyncio.to_thread(tools.call, params.name, params.arguments or {})
        except (RefoldError, TypeError) as error:  # TypeError: arguments that no tool has
            text = types.TextContent(text=str(error))
            return types.CallToolResult(content=[text], is_error=True)
        if isinstance(answer, str):
            return types.CallToolResult(content=[types.TextContent(text=answer)])
        text = types.TextContent(text=json.dumps(answer, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=answer)

    return Server(
        _NAME, instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


def serve_stdio(tools: Tools) -> None:
    """Answer on standard input and output until the client goes."""
    server = make_server(tools)
    from mcp.server.stdio import stdio_server

    async def answer() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    asyncio.run(answer())


def serve_http(tools: Tools, port: int) -> None:
    """Answer at `/mcp` on the loopback interface, having said on standard error where that is.

    Only this machine can connect, and the SDK refuses requests for other hosts.
    """
    server = make_server(tools)
    import uvicorn

    app = server.streamable_http_app(
        stateless_http=True, json_response=True, max_request_body_size=_MAX_BODY, host=_HOST
    )
    with socket.create_server((_HOST, port)) as listener:
        where = f"http://{_HOST}:{listener.getsockname()[1]}/mcp"
        print(f"listening on {where}", file=sys.stderr, flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
