"""The real SDK talks to the server: in memory, on stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from refold.server.mcp import Tools
from refold.server.originals import COMPACTED
from refold.stores import SqliteStore
from tests.patience import FOR_EVER
from tests.server.outputs import ERROR, log

pytest.importorskip("mcp_types", reason="needs the SDK: make test-clients has it")
from mcp import Client, StdioServerParameters

from refold.server.mcp import make_server

TOOLS = ["refold_compress", "refold_retrieve", "refold_stats"]
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("refold_compress", {}, "give either text or messages"),
    ("refold_compress", {"txt": "a"}, "no argument 'txt': it takes text, messages, token_budget"),
    ("refold_compress", {"messages": ["a"]}, "messages[0]: must be a mapping"),
    ("refold_compress", {"messages": [{"content": "a"}]}, 'messages[0]: has no "role"'),
    ("refold_compress", {"text": "a", "token_budget": "x"}, "token_budget must be a whole number"),
    ("refold_stats", {"since": 1}, "no argument 'since': it takes none"),
]


async def talk(server: Any) -> None:
    """Shorten a log, find the error in what was left out, and look at the counts."""
    async with Client(server, read_timeout_seconds=FOR_EVER) as client:
        listed = (await client.list_tools()).tools
        assert sorted(tool.name for tool in listed) == TOOLS
        hints = {tool.name: tool.annotations.read_only_hint for tool in listed}
        assert hints == {"refold_compress": False, "refold_retrieve": True, "refold_stats": True}
        outputs = {tool.name: tool.output_schema for tool in listed if tool.output_schema}
        short = await client.call_tool("refold_compress", {"text": log(), "token_budget": 1_000})
        assert not short.is_error
        shown = short.structured_content["text"]
        assert len(shown) < 0.5 * len(log())
        handle = shown[shown.rindex("#") :].rstrip("]")
        line = str(log().split("\n").index(ERROR) + 1)
        found = await client.call_tool("refold_retrieve", {"handle": handle, "lines": line})
        assert ERROR in found.content[0].text
        some = await client.call_tool("refold_retrieve", {"handle": handle, "lines": "1-3"})
        assert log().split("\n")[2] in some.content[0].text
        none = await client.call_tool("refold_retrieve", {"handle": "#nothing"})
        assert none.is_error
        assert "there is no original" in none.content[0].text
        for tool, wrong, problem in WRONG:
            answer = await client.call_tool(tool, wrong)
            assert answer.is_error
            assert problem in answer.content[0].text
        counts = (await client.call_tool("refold_stats", {})).structured_content
        assert counts["folded"] == 1
        assert counts["retrieved"] == 3
        assert set(outputs) == {"refold_compress", "refold_stats"}
        assert set(counts) >= set(outputs["refold_stats"]["required"])
        assert set(short.structured_content) <= set(outputs["refold_compress"]["properties"])


def test_in_memory(tmp_path: Path) -> None:
    with closing(Tools(tmp_path / "refold.db")) as tools:
        asyncio.run(talk(make_server(tools)))


def test_on_stdio(tmp_path: Path) -> None:
    args = ["-m", "refold", "mcp", "--store", str(tmp_path / "refold.db")]
    asyncio.run(talk(StdioServerParameters(command=sys.executable, args=args, env=dict(_env()))))


def test_sessions_are_resources_where_nobody_else_can_ask(tmp_path: Path) -> None:
    async def read(server: Any) -> list[str]:
        async with Client(server, read_timeout_seconds=FOR_EVER) as client:
            listed = (await client.list_resources()).resources
            texts = [(await client.read_resource(one.uri)).contents[0].text for one in listed]
            with pytest.raises(Exception, match="there is no session 'other'"):
                await client.read_resource("refold://session/other")
            return texts

    store = tmp_path / "refold.db"
    with SqliteStore(store) as originals:
        originals.put({f"{COMPACTED}s-1-40": "what was put back"})
    with closing(Tools(store)) as tools:
        assert asyncio.run(read(make_server(tools, lists_sessions=True))) == ["what was put back"]
        assert make_server(tools).get_request_handler("resources/list") is None


def test_over_http(tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        asyncio.run(talk(url))


def _env() -> Iterator[tuple[str, str]]:
    yield "PYTHONPATH", ":".join(sys.path)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    store = str(folder / "refold.db")
    command = [sys.executable, "-m", "refold", "mcp", "--http", "--port", "0", "--store", store]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            yield server.stderr.readline().removeprefix("listening on ").strip()
        finally:
            server.terminate()
            server.communicate()


HELLO = """\
{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",\
 "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
"""
CALL = """\
{"method": "tools/call", "params": {"name": "%s", "arguments": %s}, "jsonrpc": "2.0", "id": %d}
"""


@pytest.mark.parametrize("depth", [190, 250, 900, 100_000])
def test_a_call_that_is_nested_deeply_gets_an_error(tmp_path: Path, depth: int) -> None:
    """And whoever asked can go on."""
    nested = "[" * depth + '"\\"{"' + "]" * depth
    calls = [
        CALL % ("refold_compress", f'{{"messages": [{{"role": "user", "content": {nested}}}]}}', 2),
        CALL % ("refold_compress", f'{{"id": 9, "text": {nested}}}', 3),
        CALL % ("refold_stats", "{}", 4),
    ]
    command = [sys.executable, "-m", "refold", "mcp", "--store", str(tmp_path / "refold.db")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(_env())
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(HELLO + "".join(calls))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(4)]
        server.stdin.close()
    assert {answer["id"]: answer["result"].get("isError") for answer in answers[1:]} == {
        2: True,
        3: True,
        4: False,
    }
