"""Long arguments of a call are shown as they begin: JSON stays JSON, and nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold.messages.formats import load
from refold.messages.message import Call
from refold.notation.recognize import has_tag, read_argument
from refold.plan.shorten.arguments import clip_call, clip_calls

CODE = "\n".join(f"def step_{n}(ship: Ship) -> int:\n    return {n}" for n in range(60))
MARK = " … [shortened, sent whole #kdbfq]"


def clip(arguments: Any) -> Any:
    """Return the arguments as they are shown; as they are if nothing is cut."""
    call = clip_call(Call("c1", "write", arguments, ("function", "arguments")), "kdbfq")
    return arguments if call is None else call.given


def test_text_stays_text_and_data_stays_data() -> None:
    given = {"path": "a.py", "content": CODE, "mode": None, "lines": [1, 2.5]}
    shown = clip(given)
    assert shown == {**given, "content": shown["content"]}
    assert shown["content"].endswith(MARK)
    assert json.loads(clip(json.dumps(given, indent=2))) == shown
    assert clip(json.dumps(given, indent=2)).startswith('{\n  "path": "a.py",\n')


def test_what_is_shown_is_whole_lines() -> None:
    shown = clip({"content": CODE})["content"].removesuffix(MARK)
    assert CODE.startswith(f"{shown}\n")
    assert 300 < len(shown) <= 400


@pytest.mark.parametrize(
    "text", ["the harbour office opens at nine " * 60, "src/harbour/office/" * 90]
)
def test_a_long_line_is_cut_between_words(text: str) -> None:
    shown = clip({"content": text})["content"].removesuffix(MARK)
    assert text.startswith(shown)
    assert 380 < len(shown) <= 400
    assert not (shown[-1].isalpha() and text[len(shown)].isalpha())


def test_text_without_blanks_is_cut_where_it_has_to_be() -> None:
    assert len(clip({"content": "数据库迁移计划" * 300})["content"]) == 400 + len(MARK)
    assert len(clip({"content": "aGVsbG8" * 300})["content"]) == 400 + len(MARK)


def test_one_of_several_says_the_handle() -> None:
    shown = clip({"old": CODE, "new": CODE, "name": "x"})
    assert shown["old"].endswith(MARK)
    assert shown["new"].endswith(" … [shortened, sent whole]")
    assert has_tag(json.dumps(shown, ensure_ascii=False))


def test_escapes_are_as_they_were() -> None:
    assert "…" in clip(json.dumps({"content": CODE}))
    assert "\\u2026" in clip(json.dumps({"content": "Größe\n" * 300}))
    assert "ö" in clip(json.dumps({"content": "Größe\n" * 300}, ensure_ascii=False))


@pytest.mark.parametrize(
    "arguments",
    [
        "word " * 500,
        '{"broken": "' + "word " * 500,
        {"many": ["a b"] * 500},
        {"no json": {1, 2}, "content": CODE},
        {"content": "x" * 1_190},
        "",
        None,
    ],
)
def test_what_has_no_long_string_or_is_no_json_stays(arguments: Any) -> None:
    assert clip(arguments) is arguments


def test_where_arguments_must_stay_they_do() -> None:
    assert clip_call(Call("c1", "write", {"content": CODE}), "kdbfq") is None
    part = {"functionCall": {"name": "write", "args": {"content": CODE}}, "thoughtSignature": "c2"}
    for signed in (True, False):
        parts = [part if signed else {"functionCall": part["functionCall"]}]
        [message] = load([{"role": "model", "parts": parts}])
        assert bool(clip_calls(message, "kdbfq")) is not signed


def test_an_argument_is_read_without_its_mark() -> None:
    assert read_argument(f"import os{MARK}") == "import os …"
    assert read_argument("import os … [shortened, sent whole]") == "import os …"
    assert read_argument("see [12]") == "see [12]"
