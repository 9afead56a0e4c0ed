"""The MCP server: tools that fetch originals, shorten, and count; on stdio or over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from refold.api import compress
from refold.checks import check_whole
from refold.errors import ConfigError, RefoldError, describe
from refold.server.originals import (
    COMPACTED,
    VIEW,
    add_counts,
    counts_beside,
    open_originals,
    read_counts,
)
from refold.shipped import read_shipped
from refold.tools.retrieve import RetrieveTool
from refold.tools.text_store import TextStore, shorten_result

RETRIEVE: Final = "refold_retrieve"
COMPRESS: Final = "refold_compress"

_NAME_BYTES: Final = 16
"""Enough that a name cannot be guessed: any client that knows it may read the originals."""
_TEXT_TOKENS: Final = 2_000
"""The default budget of a text: a page or two, a guess."""
_MOST_SESSIONS: Final = 10
"""How many sessions are listed: the last ones that were compacted."""
_URI: Final = "refold://session/"
_PROBLEM: Final = re.compile(rf"\[(?:{RETRIEVE}: |there is no |#[a-z]+ (?:may be|is known))")
"""How an answer begins that says why there is no text."""


class Tools:
    """The tools on one store, which they share with the hook and the proxy."""

    def __init__(self, store: str | os.PathLike[str]) -> None:
        self._store = open_originals(store)
        self._counts = counts_beside(store)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def describe(self) -> dict[str, dict[str, Any]]:
        """Return the tools as `mcp_tools.json` has them, by name.

        Retrieval is as it is elsewhere, and takes the name of a conversation. Its output has no
        schema: a client would show the model that instead of the text.
        """
        tools = {
            tool["name"]: tool
            for tool in json.loads(read_shipped("refold.server", "mcp_tools.json"))
        }
        known, ours = self._retriever().schema, tools[RETRIEVE]
        schema = known["input_schema"]
        properties = {**schema["properties"], **ours["input_schema"]["properties"]}
        tools[RETRIEVE] = {**ours, **known, "input_schema": {**schema, "properties": properties}}
        return tools

    def call(self, name: str, arguments: Mapping[str, Any]) -> str | dict[str, Any]:
        """Answer a call of the tool *name*.

        Raises:
            RefoldError: there is no such tool, or the call fails.
        """
        if name == _TOO_DEEP:
            raise ConfigError("the arguments are nested too deeply")
        tools = self.describe()
        if name not in tools:
            raise ConfigError(f"there is no tool {name[:50]!r}; there are {', '.join(tools)}")
        known = tools[name]["input_schema"]["properties"]
        unknown = [str(argument)[:50] for argument in arguments if argument not in known]
        if unknown:
            takes = f"takes {', '.join(known)}" if known else "takes none"
            raise ConfigError(f"{name} has no argument {unknown[0]!r}: it {takes}")
        if name == RETRIEVE:
            return self.retrieve(arguments)
        return self.compress(**arguments) if name == COMPRESS else self.stats()

    def sessions(self) -> list[str]:
        """Return the names of the last sessions that were compacted, the last one first."""
        entries = sorted(self._store.entries(COMPACTED), key=lambda one: one.written_at or 0.0)
        names = [one.key.removeprefix(COMPACTED) for one in reversed(entries)]
        return names[:_MOST_SESSIONS]

    def session(self, name: str) -> str:
        """Return what was put back into the session *name*.

        Raises:
            ConfigError: it is not known.
        """
        text = self._store.get([COMPACTED + name]).get(COMPACTED + name)
        if not isinstance(text, str):
            raise ConfigError(f"there is no session {name!r}; list the resources to see them")
        return text

    def retrieve(self, arguments: Mapping[str, Any]) -> str:
        """Return an original or a part of it.

        Raises:
            ConfigError: nothing is known by that handle, or it is not clear what is wanted.
        """
        add_counts(self._counts, {"retrieved": 1})
        asked = dict(arguments)
        name = str(asked.pop("conversation", None) or "")
        key = VIEW + name
        view = self._store.get([key]).get(key) if name else ()
        if view is None:
            raise ConfigError(f"there is no conversation {name[:50]!r}")
        answer = self._retriever(name, view).call(asked)
        if _PROBLEM.match(answer):
            raise ConfigError(answer.strip("[]").removeprefix(f"{RETRIEVE}: "))
        return answer

    def _retriever(self, conversation: str = "", messages: Sequence[Any] = ()) -> RetrieveTool:
        return RetrieveTool(
            source=self._store,
            messages=messages,
            conversation=conversation or None,
            name=RETRIEVE,
            style="anthropic",
        )

    def compress(
        self,
        text: str = "",
        messages: list[dict[str, Any]] | None = None,
        token_budget: int | None = None,
    ) -> dict[str, Any]:
        """Shorten a text or a conversation, to about *token_budget*.

        Raises:
            ConfigError: both are given, or neither.
            RefoldError: the messages cannot be read or kept.
        """
        if bool(text) == bool(messages):
            raise ConfigError("give either text or messages")
        if not isinstance(text, str):
            raise ConfigError(f"text must be a string, got {type(text).__name__}")
        if messages:
            name = secrets.token_hex(_NAME_BYTES)
            result = compress(
                messages, token_budget=token_budget, store=self._store, conversation=name
            )
            self._store.put({VIEW + name: result.messages})
            done = result.compression
            counts = self._count(done.tokens_before, done.tokens_after)
            return {"messages": result.messages, "conversation": name, **counts}
        most = _TEXT_TOKENS if token_budget is None else token_budget
        check_whole("token_budget", most, least=1)
        short = shorten_result(text, TextStore(self._store), profile="standard", max_tokens=most)
        if short is None:
            return {"text": text, "tokens_saved": 0}
        return {"text": short.text, **self._count(short.tokens_before, short.tokens_after)}

    def stats(self) -> dict[str, int]:
        """Return what the hook and these tools have done with this store so far."""
        counts = read_counts(self._counts)
        saved = _saved(counts.pop("tokens_before", 0), counts.pop("tokens_after", 0))
        return {"originals": len(self._store), **counts, **saved}

    def _count(self, before: int, after: int) -> dict[str, int]:
        add_counts(self._counts, {"folded": 1, "tokens_before": before, "tokens_after": after})
        return _saved(before, after)


def _saved(before: int, after: int) -> dict[str, int]:
    return {"tokens_before": before, "tokens_after": after, "tokens_saved": before - after}


_NAME: Final = "refold"
_TITLE: Final = "A session before it was compacted"
_HOST: Final = "127.0.0.1"
_MAX_BODY: Final = 64 * 2**20
"""The largest request; the SDK's own limit, 4 MiB, is too small for a long conversation."""
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]')
_TOO_DEEP: Final = "(nested too deeply)"
_INSTRUCTIONS: Final = (
    "Tool results may be shortened: their mark then ends in # and a handle. "
    f"{RETRIEVE} returns the whole text of a handle, or some of its lines, and what a folded "
    "conversation says about a query."
)


def make_server(tools: Tools, *, lists_sessions: bool = False) -> Any:
    """Return the `Server` of the SDK that answers with *tools*.

    Only a server that nobody else can reach *lists_sessions*: their names open their originals.

    Raises:
        ConfigError: the SDK is not installed, or too old.
    """
    try:
        import mcp_types as types
        from mcp.server import Server
        from mcp.shared.exceptions import MCPError
    except ImportError as error:
        raise ConfigError(
            "the MCP server needs the official SDK, version 2 or newer: pip install 'refold[mcp]'"
        ) from error

    async def list_tools(_context: Any, _params: Any) -> Any:
        listed = [types.Tool(**tool) for tool in tools.describe().values()]
        return types.ListToolsResult(tools=listed)

    async def call_tool(_context: Any, params: Any) -> Any:
        try:
            answer = await asyncio.to_thread(tools.call, params.name, params.arguments or {})
            spelled = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        except Exception as error:  # noqa: BLE001 - whatever a model sends, it gets an answer
            why = str(error) if isinstance(error, RefoldError) else describe(error)
            text = types.TextContent(text=why)
            return types.CallToolResult(content=[text], is_error=True)
        text = types.TextContent(text=spelled)
        if isinstance(answer, str):
            return types.CallToolResult(content=[text])
        return types.CallToolResult(content=[text], structured_content=answer)

    async def list_resources(_context: Any, _params: Any) -> Any:
        names = await asyncio.to_thread(tools.sessions)
        return types.ListResourcesResult(
            resources=[
                types.Resource(name=name, uri=_URI + name, mime_type="text/plain", title=_TITLE)
                for name in names
            ]
        )

    async def read_resource(_context: Any, params: Any) -> Any:
        try:
            text = await asyncio.to_thread(tools.session, params.uri.removeprefix(_URI))
        except RefoldError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        contents = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[contents])

    resources = {"on_list_resources": list_resources, "on_read_resource": read_resource}
    return Server(
        _NAME,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        **(resources if lists_sessions else {}),
    )


def serve_stdio(tools: Tools) -> None:
    """Serve on standard input and output until the client disconnects."""
    server = make_server(tools, lists_sessions=True)
    from mcp.server.stdio import stdio_server

    async def answer() -> None:
        async with stdio_server(_read_lines()) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    asyncio.run(answer())


async def _read_lines() -> AsyncIterator[str]:
    """Yield what a client sends; of what the SDK cannot parse, and would not answer, the outside.

    That is whatever is nested more than 200 deep.
    """
    import anyio
    import mcp_types as types

    with open(sys.stdin.fileno(), encoding="utf-8", errors="replace", closefd=False) as source:
        async for line in anyio.wrap_file(source):
            try:
                types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                yield _outside_of(line)
            else:
                yield line


def _outside_of(line: str) -> str:
    """Return a request with parameters that say only that they are nested too deeply."""
    depth = start = 0
    outside = []
    for token in _TOKEN.finditer(line):
        if token[0] in "[{":
            depth += 1
            if depth == 2:
                outside.append(line[start : token.start()] + json.dumps({"name": _TOO_DEEP}))
        elif token[0] in "]}":
            depth -= 1
            start = token.end() if depth == 1 else start
    return "".join(outside) + line[start:]


def serve_http(tools: Tools, port: int) -> None:
    """Serve at `/mcp` on the loopback interface, and print the address on standard error.

    Only this machine can connect, and the SDK refuses requests for other hosts.

    Raises:
        ConfigError: the SDK is not installed, or the port cannot be used.
    """
    server = make_server(tools)
    import uvicorn

    app = server.streamable_http_app(
        stateless_http=True, json_response=True, max_request_body_size=_MAX_BODY, host=_HOST
    )
    try:
        listener = socket.create_server((_HOST, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigError(
            f"cannot listen on {_HOST}:{port}: {reason}; choose another --port"
        ) from error
    with listener:
        where = f"http://{_HOST}:{listener.getsockname()[1]}/mcp"
        print(f"listening on {where}", file=sys.stderr, flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
