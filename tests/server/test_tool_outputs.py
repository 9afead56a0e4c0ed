"""Texts are changed where they stand; the shape of an output is what it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.server.hook import map_texts

TEXT = "one\ntwo"
BASH = {"stdout": TEXT, "stderr": "", "interrupted": False, "isImage": False}
FILE = {"filePath": "/a.log", "content": TEXT, "numLines": 2, "startLine": 1, "totalLines": 2}
FOUND = {"filenames": ["one", "two"], "durationMs": 3, "numFiles": 2, "truncated": False}
BLOCKS = [{"type": "text", "text": TEXT}, {"type": "image", "data": "AAAA"}]
OUTPUTS: list[tuple[str, Any]] = [
    ("Bash", BASH),
    ("Bash", {**BASH, "stdout": "", "stderr": TEXT, "noOutputExpected": False}),
    ("Read", {"type": "text", "file": FILE}),
    ("Grep", {"mode": "content", "numFiles": 1, "filenames": [], "content": TEXT}),
    ("Grep", {"mode": "files_with_matches", **FOUND}),
    ("Glob", FOUND),
    ("WebFetch", {"bytes": 7, "code": 200, "codeText": "OK", "result": TEXT, "url": "http://a"}),
    ("Task", {"status": "completed", "content": BLOCKS, "totalTokens": 9}),
    ("mcp__db__query", TEXT),
    ("mcp__db__query", BLOCKS),
    ("mcp__db__query", {"content": BLOCKS}),
]


def shape(value: Any) -> Any:
    match value:
        case dict():
            return {key: shape(item) for key, item in value.items()}
        case list() if all(isinstance(item, str) for item in value):
            return [str]
        case list():
            return [shape(item) for item in value]
    return type(value)


@pytest.mark.parametrize(("tool", "output"), OUTPUTS)
def test_the_text_is_changed_and_the_shape_is_kept(tool: str, output: Any) -> None:
    before = repr(output)
    changed = map_texts(tool, output, lambda text: "short" if text == TEXT else text)
    assert "short" in repr(changed)
    assert "two" not in repr(changed)
    assert shape(changed) == shape(output)
    assert repr(output) == before


@pytest.mark.parametrize(("tool", "output"), OUTPUTS)
def test_what_is_not_changed_is_the_same_object(tool: str, output: Any) -> None:
    assert map_texts(tool, output, lambda text: text) is output


@pytest.mark.parametrize(
    ("tool", "output"),
    [
        ("mcp__refold__refold_retrieve", BLOCKS),
        ("mcp__other__retrieve_original", TEXT),
        ("Bash", {**BASH, "isImage": True}),
        ("Bash", {**BASH, "persistedOutputPath": "/tmp/whole.txt"}),
        ("Edit", {"oldString": TEXT, "newString": TEXT}),
        ("Unheard", TEXT),
        ("Read", {"type": "image", "file": {"base64": "AAAA"}}),
    ],
)
def test_what_is_wanted_whole_or_not_known_is_left_alone(tool: str, output: Any) -> None:
    assert map_texts(tool, output, lambda _: "short") is output


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["content", "text", "a"]), inner)
    ),
)


@given(tool=st.sampled_from([tool for tool, _ in OUTPUTS]), output=JSON)
def test_any_output_can_be_given(tool: str, output: Any) -> None:
    assert map_texts(tool, output, lambda text: text) is output
