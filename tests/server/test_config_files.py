"""Entries go in and come out again; what is not ours stays."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import ConfigError
from refold.server.config_files import Entry, add_entries, has_entry, remove_entries

ITEM = Entry(("hooks", "PostToolUse"), {"matcher": "*"}, is_item=True)
VALUE = Entry(("servers", "refold"), {"command": "refold", "args": ["mcp"]})
TOP = Entry(("model_provider",), "refold")
TABLE = Entry(("servers", "refold"), {"command": 'a "quoted" path', "args": ["mcp"]})

KEYS = st.sampled_from(["hooks", "PostToolUse", "servers", "other"])
FULL = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
)


@given(document=st.dictionaries(KEYS, FULL))
def test_json_without_the_entries_is_what_it_was(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    try:
        added = add_entries(text, [ITEM, VALUE], is_toml=False)
    except ConfigError:
        return
    assert has_entry(added, ITEM, is_toml=False)
    assert has_entry(added, VALUE, is_toml=False)
    assert json.loads(remove_entries(added, [ITEM, VALUE], before=text, is_toml=False)) == document


def test_what_the_user_changed_stays() -> None:
    added = json.loads(add_entries("{}", [ITEM, VALUE], is_toml=False))
    added["hooks"]["PostToolUse"].append("mine")
    added["servers"]["refold"]["args"] = ["mine"]
    left = json.loads(remove_entries(json.dumps(added), [ITEM, VALUE], before="", is_toml=False))
    assert left == {"hooks": {"PostToolUse": ["mine"]}, "servers": added["servers"]}


@pytest.mark.parametrize("indent", ["\t", "    "])
def test_the_indentation_is_kept(indent: str) -> None:
    text = json.dumps({"a": 1}, indent=indent)
    assert f"\n{indent}{indent}" in add_entries(text, [VALUE], is_toml=False)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_ends_of_lines_are_kept(end: str) -> None:
    json_text = json.dumps({"a": 1}, indent=4).replace("\n", end)
    for text, is_toml in ((json_text, False), (f"a = 1{end}", True)):
        added = add_entries(text, [VALUE], is_toml=is_toml)
        assert added.count("\n") == added.count(end) > text.count(end)
        assert remove_entries(added, [VALUE], before=text, is_toml=is_toml).strip() == text.strip()


def test_what_somebody_wrote_among_our_lines_is_not_taken_out() -> None:
    added = add_entries("", [TOP, TABLE], is_toml=True)
    edited = added.replace("# <<< refold", "mine = 1\n# <<< refold")
    with pytest.raises(ConfigError, match="remove that by hand"):
        remove_entries(edited, [TOP, TABLE], before="", is_toml=True)
    without_end = added.rpartition("# <<< refold")[0] + "[mine]\na = 1\n"
    with pytest.raises(ConfigError, match="remove that by hand"):
        remove_entries(without_end, [TOP, TABLE], before="", is_toml=True)


TOML = '# mine\nmodel = "o"  # why\n\n[servers.mine]\ncommand = "x"'


@pytest.mark.parametrize("text", ["", TOML, TOML + "\n"])
def test_toml_keeps_every_character(text: str) -> None:
    added = add_entries(text, [TOP, TABLE], is_toml=True)
    read = tomllib.loads(added)
    assert read["model_provider"] == "refold"
    assert read["servers"]["refold"] == TABLE.value
    assert has_entry(added, TOP, is_toml=True)
    assert has_entry(added, TABLE, is_toml=True)
    assert remove_entries(added, [TOP, TABLE], before=text, is_toml=True).strip() == text.strip()


@pytest.mark.parametrize(
    ("text", "entry", "is_toml", "problem"),
    [
        ("{", VALUE, False, "not JSON"),
        ("// mine\n{}", VALUE, False, "comments, which would be lost"),
        ("[]", VALUE, False, "not a JSON object"),
        ('{"servers": []}', VALUE, False, "not an object"),
        ('{"hooks": {"PostToolUse": {}}}', ITEM, False, "not a list"),
        ('{"servers": {"refold": 1}}', VALUE, False, "servers.refold is already set: 1"),
        ("a = ", TOP, True, "not TOML"),
        ('model_provider = "mine"', TOP, True, "model_provider is already set: 'mine'"),
        ("[servers.refold]\na = 1", TABLE, True, "is already set"),
    ],
)
def test_what_is_in_the_way_is_said(text: str, entry: Entry, is_toml: bool, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        add_entries(text, [entry], is_toml=is_toml)
