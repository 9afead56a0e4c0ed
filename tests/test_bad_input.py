"""Bad input is refused at once: the documented error, what was wrong, and where."""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from refold import (
    ConfigError,
    MemoryStore,
    MessageError,
    Options,
    PreservePattern,
    RefoldError,
    SqliteStore,
    StoreError,
    classify,
    uncompress,
)
from tests.classic import Compressor, Session, compress
from tests.conversations import SENTENCES
from tests.patience import FOR_EVER

OK = {"role": "user", "content": "hi"}
LONG = " ".join(SENTENCES[n] for n in (0, 1, 7, 6))


def user(content: object) -> dict[str, Any]:
    return {"role": "user", "content": content}


BAD_LISTS: list[tuple[object, str]] = [
    (None, "messages: "),
    (42, "messages: "),
    ("hello", "messages: "),
    (b"hello", "messages: "),
    (OK, "messages: "),
    ({OK["role"]}, "messages: "),
    ([None], "messages[0]: "),
    ([OK, "hello"], "messages[1]: "),
    ([OK, OK, 3], "messages[2]: "),
    ([OK, [OK]], "messages[1]: "),
]
"""What is not a list of mappings, for `compress` and `uncompress` alike."""

BAD_MESSAGES: list[tuple[list[Any], str]] = [
    ([{}], "messages[0]"),
    ([{"content": "no role"}], "messages[0]"),
    ([OK, {"role": "user", "parts": [{"text": "as Gemini has it"}]}], "messages[0]"),
    ([OK, {"role": None, "content": "x"}], "messages[1]"),
    ([OK, {"role": "", "content": "x"}], "messages[1].role"),
    ([OK, {"role": 3, "content": "x"}], "messages[1].role"),
    ([{"role": ["user"], "content": "x"}], "messages[0].role"),
    ([{**OK, "id": ""}], "messages[0].id"),
    ([{**OK, "id": 7}], "messages[0].id"),
    ([{**OK, "id": True}], "messages[0].id"),
    ([{**OK, "id": ["a"]}], "messages[0].id"),
    ([{**OK, "id": "a"}, OK, {**OK, "id": "a"}], "messages[2].id"),
    ([user(5)], "messages[0].content"),
    ([user(True)], "messages[0].content"),
    ([user({"type": "text", "text": "x"})], "messages[0].content"),
    ([user(b"bytes")], "messages[0].content"),
    ([user(["just a string"])], "messages[0].content[0]"),
    ([OK, OK, OK, user([{"type": "text", "text": "x"}, None])], "messages[3].content[1]"),
    ([user([{"type": "text", "text": "x"}, 5])], "messages[0].content[1]"),
    ([user([{}])], "messages[0].content[0]"),
    ([user([{"text": 5}])], "messages[0].content[0].text"),
    ([user([{"type": "text"}])], "messages[0].content[0].text"),
    ([user([{"type": "text", "text": None}])], "messages[0].content[0].text"),
    ([user([{"type": "text", "text": ["x"]}])], "messages[0].content[0].text"),
    ([user([{"type": ["text"], "text": "x"}])], "messages[0].content[0].type"),
    ([user([{"type": {}, "text": "x"}])], "messages[0].content[0].type"),
    ([user([{"type": "tool_result", "content": "x"}])], "messages[0].content[0].tool_use_id"),
    (
        [user([{"type": "tool_result", "tool_use_id": 3, "content": "x"}])],
        "messages[0].content[0].tool_use_id",
    ),
    (
        [user([{"type": "tool_result", "tool_use_id": "t", "content": 3}])],
        "messages[0].content[0].content",
    ),
    (
        [user([{"type": "tool_result", "tool_use_id": "t", "content": ["x"]}])],
        "messages[0].content[0].content[0]",
    ),
    (
        [
            user(
                [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text"}]}],
            )
        ],
        "messages[0].content[0].content[0].text",
    ),
    ([{"role": "assistant", "content": [{"type": "tool_use"}]}], "messages[0].content[0].id"),
    (
        [{"role": "assistant", "content": [{"type": "tool_use", "id": ""}]}],
        "messages[0].content[0].id",
    ),
    ([{"role": "assistant", "content": None, "tool_calls": {"id": "c"}}], "messages[0].tool_calls"),
    ([{"role": "assistant", "content": None, "tool_calls": "c"}], "messages[0].tool_calls"),
    (
        [{"role": "assistant", "content": None, "tool_calls": [{"id": "c"}, "d"]}],
        "messages[0].tool_calls[1]",
    ),
    ([{"role": "tool", "content": "x", "tool_call_id": 3}], "messages[0].tool_call_id"),
    ([{"role": "tool", "content": "x", "tool_call_id": ["c"]}], "messages[0].tool_call_id"),
    (
        [{"type": "user", "uuid": "u", "message": {"role": "user", "content": 5}}],
        "messages[0].message.content",
    ),
    (
        [{"type": "user", "uuid": "u", "message": {"role": None, "content": "x"}}],
        "messages[0].message",
    ),
    (
        [{"type": "response_item", "payload": {"type": "message", "role": "user", "content": 5}}],
        "messages[0].payload.content",
    ),
    (
        [{"type": "response_item", "payload": {"type": "message", "content": "x"}}],
        "messages[0]",
    ),
]
"""What is a list of mappings, but not a conversation."""


def place(error: BaseException) -> str:
    """Return the place that the error's text begins with."""
    found = re.match(r"[\w.\[\]]+(?=: )", str(error))
    return found[0] if found else ""


@pytest.mark.parametrize(("bad", "where"), BAD_LISTS, ids=range(len(BAD_LISTS)))
def test_not_a_list_of_mappings(bad: Any, where: str) -> None:
    with pytest.raises(MessageError, match=f"^{re.escape(where)}"):
        compress(bad)
    with pytest.raises(MessageError, match=f"^{re.escape(where)}"):
        uncompress(bad, {})


@pytest.mark.parametrize(("bad", "where"), BAD_MESSAGES, ids=range(len(BAD_MESSAGES)))
def test_not_a_conversation(bad: list[Any], where: str) -> None:
    good = [{"role": "user", "content": LONG}] * 6
    messages = [*bad, *good]
    before = copy.deepcopy(messages)
    store = MemoryStore()
    with pytest.raises(MessageError) as caught:
        compress(messages, store=store)
    assert place(caught.value) == where
    assert caught.value.place == where
    assert messages == before
    assert len(store) == 0


def test_a_duplicate_id_names_both_places() -> None:
    messages = [{**OK, "id": "a"}, OK, {**OK, "id": "a"}]
    with pytest.raises(MessageError, match=r"messages\[2\]\.id: id 'a' .*messages\[0\]"):
        compress(messages)


@pytest.mark.parametrize("own_comes_first", [False, True])
def test_an_id_that_we_would_derive_is_not_free_either(own_comes_first: bool) -> None:
    place = 1 if own_comes_first else 0
    derived = compress([OK] * 2, trace=True).decisions[place].message_id
    messages = [OK, OK]
    messages[1 - place] = {**OK, "id": derived}
    with pytest.raises(MessageError, match=rf"messages\[1\]\.id: id '{derived}' .*messages\[0\]"):
        compress(messages)


def test_a_session_goes_on_after_an_id_that_was_refused() -> None:
    session = Session()
    session.extend([OK, {**OK, "id": "a"}])
    with pytest.raises(MessageError, match="already used"):
        session.append({**OK, "id": "a"})
    session.append({**OK, "id": "b"})
    assert len(session.messages) == 3


@pytest.mark.parametrize("role", ["robot", "User", " user"])
def test_unknown_roles_are_refused_in_strict_mode_only(role: str) -> None:
    messages = [OK, {"role": role, "content": "x"}]
    assert compress(messages).messages == messages
    with pytest.raises(MessageError, match=r"^messages\[1\]\.role: "):
        compress(messages, strict_roles=True)


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"recency_windwo": 3}, "did you mean 'recency_window'"),
    ({"colour": "red"}, "unknown option 'colour'"),
    ({"recency_window": -1}, "recency_window .*-1"),
    ({"recency_window": 1.5}, "recency_window .*1.5"),
    ({"recency_window": "4"}, "recency_window .*'4'"),
    ({"recency_window": True}, "recency_window .*True"),
    ({"recency_window": None}, "recency_window .*None"),
    ({"source_version": -1}, "source_version .*-1"),
    ({"compression_threshold": -5}, "compression_threshold .*-5"),
    ({"observation_threshold": "big"}, "observation_threshold .*'big'"),
    ({"fuzzy_threshold": 1.01}, "fuzzy_threshold .*1.01"),
    ({"fuzzy_threshold": -0.1}, "fuzzy_threshold .*-0.1"),
    ({"fuzzy_threshold": float("nan")}, "fuzzy_threshold .*nan"),
    ({"importance_threshold": "high"}, "importance_threshold .*'high'"),
    ({"contradiction_topic_threshold": None}, "contradiction_topic_threshold .*None"),
    ({"dedup": 1}, "dedup .*1"),
    ({"fuzzy_dedup": "yes"}, "fuzzy_dedup .*'yes'"),
    ({"trace": None}, "trace .*None"),
    ({"strict_roles": 0}, "strict_roles .*0"),
    ({"embed_summary_id": "no"}, "embed_summary_id .*'no'"),
    ({"keep_duplicate": "last"}, "keep_duplicate .*'last'"),
    ({"keep_duplicate": ["latest"]}, "keep_duplicate .*latest"),
    ({"preserve": "system"}, "preserve .*'system'"),
    ({"preserve": 3}, "preserve .*3"),
    ({"preserve": ["system", ""]}, "preserve .*''"),
    ({"preserve": [None]}, "preserve .*None"),
    ({"preserve_patterns": "secret"}, "preserve_patterns .*'secret'"),
    ({"preserve_patterns": ["("]}, "preserve_patterns .*'\\('"),
    ({"preserve_patterns": [5]}, "preserve_patterns .*5"),
    ({"preserve_patterns": [re.compile(rb"x")]}, "preserve_patterns "),
    ({"preserve_patterns": [{"label": "no pattern"}]}, "preserve_patterns "),
    ({"counter": 3.6}, "counter .*3.6"),
    ({"counter": "cl100k"}, "counter .*'cl100k'"),
    ({"format": 3}, "format .*3"),
    ({"format": "openai"}, "format .*openai-chat.*'openai'"),
]


@pytest.mark.parametrize(("chosen", "says"), BAD_OPTIONS, ids=lambda value: str(value)[:40])
def test_options_that_can_never_work(chosen: dict[str, Any], says: str) -> None:
    messages = [user(LONG)] * 6
    store = MemoryStore()
    with pytest.raises(ConfigError, match=says):
        compress(messages, store=store, **chosen)
    assert messages == [user(LONG)] * 6
    assert len(store) == 0


@pytest.mark.parametrize(
    "chosen",
    # The names of formats are known one layer above the options.
    [chosen for chosen, _ in BAD_OPTIONS if chosen != {"format": "openai"}],
    ids=lambda value: str(value)[:40],
)
def test_options_are_refused_where_they_are_written(chosen: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Options(**chosen)


def test_options_of_the_wrong_kind() -> None:
    with pytest.raises(ConfigError, match="options must be Options, got dict"):
        Compressor({"recency_window": 2})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="did you mean 'recency_window'"):
        Compressor(Options(), recency_windo=2)
    with pytest.raises(ConfigError, match="recency_window"):
        Compressor(Options(), recency_window=-2)
    with pytest.raises(ConfigError, match=r"\[x"):
        PreservePattern.of(("[x", "label"))


@pytest.mark.parametrize("store", [{}, [], "store.db", Path("store.db"), 3, OK], ids=repr)
def test_a_store_that_is_none(store: Any) -> None:
    with pytest.raises(ConfigError, match=r"store must have put.*SqliteStore"):
        compress([OK], store=store)


@pytest.mark.parametrize("store", [None, [], "store.db", 3], ids=repr)
def test_originals_that_cannot_be_looked_up(store: Any) -> None:
    with pytest.raises(StoreError, match=r"needs a store.*Result.verbatim"):
        uncompress([OK], store)


@pytest.mark.parametrize("text", [None, 3, b"x", ["x"], OK], ids=repr)
def test_classify_takes_text(text: Any) -> None:
    with pytest.raises(ConfigError, match=f"got {type(text).__name__}"):
        classify(text)


def test_stores_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is no database, but long enough to be looked at " * 40)
    for path in ("", ":memory:", tmp_path, tmp_path / "text.db", tmp_path / "no" / "such" / "x.db"):
        with pytest.raises(StoreError, match=re.escape(repr(os.fspath(path)))):
            SqliteStore(path)
    for ttl in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="ttl_seconds"):
            SqliteStore(tmp_path / "ok.db", ttl_seconds=ttl)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_stores_refuse_what_is_no_key(kind: str, tmp_path: Path) -> None:
    bad_puts: list[Any] = [{1: "x"}, {None: "x"}, {b"k": "x"}, [("k", "x")], None]
    bad_gets: list[Any] = ["k", b"k", 3, None, [1]]
    with SqliteStore(tmp_path / "s.db") as file:
        store = MemoryStore() if kind == "memory" else file
        for entries in bad_puts:
            with pytest.raises(StoreError):
                store.put({"good": 1, **entries} if isinstance(entries, dict) else entries)
        for keys in bad_gets:
            with pytest.raises(StoreError):
                store.get(keys)
        assert len(store) == 0


class BrokenStore:
    """Fails the way a full disk does."""

    def __init__(self) -> None:
        self.held: dict[str, Any] = {}

    def put(self, entries: Mapping[str, Any]) -> None:
        raise StoreError("disk full")

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        return {}


def test_a_store_that_cannot_write_means_no_result() -> None:
    messages = [user(LONG)] * 3
    with pytest.raises(StoreError, match="disk full"):
        compress(messages, store=BrokenStore(), recency_window=0)
    assert messages == [user(LONG)] * 3


def test_a_value_that_a_file_cannot_hold_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    messages: list[dict[str, Any]] = [
        {"id": "a", "role": "user", "content": LONG},
        {"id": "b", "role": "assistant", "content": LONG + "!", "when": {1, 2}},
    ]
    with SqliteStore(tmp_path / "s.db") as store:
        with pytest.raises(StoreError, match="set"):
            compress(messages, store=store, recency_window=0)
        assert len(store) == 0


# What nobody has a table for: values that JSON does not know, in keys that we do not know.


@pytest.mark.parametrize(
    "extra",
    [{(1, 2): "tuple key"}, {1: "number key"}, {None: "x"}, b"bytes", {1, 2}, (1, [2]), 1j],
    ids=repr,
)
@pytest.mark.parametrize("has_id", [True, False])
def test_values_that_json_does_not_know_travel_along(extra: object, has_id: bool) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": LONG, "extra": extra}, OK]
    if has_id:
        messages[0]["id"] = "a"
    for window in (0, 4):
        result = compress(messages, recency_window=window)
        assert result.messages[0]["extra"] == extra
        assert uncompress(result.messages, result.verbatim).messages == messages


BIG = 10**5000
"""Python spells no number of so many digits, and reads none."""


@pytest.mark.parametrize("profile", ["classic", "standard", "lossless"])
@pytest.mark.parametrize(
    "more",
    [
        {"n": BIG},
        {"n": -BIG, "id": "a"},
        {"n": [{"deep": BIG}]},
        {"n": {BIG: "key"}},
        {"content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"n": BIG}}]},
    ],
    ids=["value", "with an id", "inside", "key", "arguments"],
)
def test_a_number_that_nobody_can_spell_is_refused(more: dict[str, Any], profile: Any) -> None:
    messages = [user(LONG), {"role": "assistant", "content": LONG, **more}]
    session = Session(profile=profile)
    session.append(messages[0])
    for use in (
        lambda: compress(messages, profile=profile),
        lambda: compress(messages, profile=profile, token_budget=20),
        lambda: session.append(messages[1]),
    ):
        with pytest.raises(MessageError, match=r"messages\[1\]: cannot be written as JSON"):
            use()


def test_a_long_number_that_can_be_spelled_travels_along() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": LONG, "n": 10**4000}, OK]
    result = compress(messages, recency_window=0)
    assert uncompress(result.messages, result.verbatim).messages == messages


@pytest.mark.parametrize("value", [{"a": 1}, ["a"], None, 3], ids=repr)
@pytest.mark.parametrize("key", ["type", "message", "payload", "name", "uuid"])
def test_unknown_keys_with_known_names_travel_along(key: str, value: object) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": LONG, key: value}, OK]
    result = compress(messages, recency_window=0)
    assert result.messages[0][key] == value
    assert result.messages != messages
    assert uncompress(result.messages, result.verbatim).messages == messages


_CYCLE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from refold import RefoldError, compress
loop = {}
loop["loop"] = loop
call = {"id": "c", "function": {"name": "f", "arguments": loop}}
for more in (
    {"extra": loop},
    {"extra": loop, "id": "a"},
    {"tool_calls": [call]},
    {"content": [{"type": "tool_use", "id": "t", "name": "f", "input": loop}]},
    {"content": [{"type": "hologram", "depths": loop}]},
):
    try:
        compress([{"role": "assistant", "content": "hi", **more}])
    except RefoldError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no memory limit to run under")
def test_a_message_that_contains_itself_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CYCLE],
        capture_output=True,
        text=True,
        timeout=FOR_EVER,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-300:]
    assert done.stdout.count("messages[0]") == 5


@pytest.mark.parametrize("count", [None, "7", 2.5, -3], ids=repr)
def test_a_counter_that_does_not_count_is_replaced_by_the_estimate(count: Any) -> None:
    def counter(text: str) -> Any:
        return count

    messages = [user(LONG), {"role": "assistant", "content": "ok"}]
    result = compress(messages, counter=counter, recency_window=0)
    assert 0 < result.tokens_after < result.tokens_before
    assert uncompress(result.messages, result.verbatim).messages == messages


# uncompress: a bad store is somebody's data, not a reason to crash


def stand_in(**provenance: Any) -> dict[str, Any]:
    return {**OK, "id": "s", "metadata": {"_cce_original": provenance}}


@pytest.mark.parametrize(
    "message",
    [
        stand_in(),
        stand_in(ids=[]),
        stand_in(ids="abc"),
        stand_in(ids=[1, 2]),
        stand_in(ids={"a": 1}),
        {**OK, "metadata": {"_cce_original": None}},
        {**OK, "metadata": {"_cce_original": [1]}},
        {**OK, "metadata": [1]},
        {**OK, "metadata": "x"},
    ],
    ids=str,
)
def test_what_is_not_provenance_is_left_alone(message: dict[str, Any]) -> None:
    restored = uncompress([message], {"a": OK, "1": OK}, accept_foreign=True)
    assert restored.messages == [message]
    assert restored.missing_ids == []
    assert restored.messages_expanded == 0


@pytest.mark.parametrize("original", [None, "text", 3, ["x"], [OK]], ids=repr)
def test_an_original_that_is_no_message_is_missing(original: object) -> None:
    message = stand_in(ids=["a"], summary_id="x", version=0)
    restored = uncompress([message], {"a": original}, accept_foreign=True)
    assert restored.messages == [message]
    assert restored.missing_ids == ["a"]


def test_a_look_up_function_that_raises_is_not_silenced() -> None:
    def look_up(key: str) -> Any:
        raise KeyError(key)

    with pytest.raises(KeyError):
        uncompress([stand_in(ids=["a"])], look_up, accept_foreign=True)


def test_an_original_that_stands_for_itself_ends() -> None:
    message = stand_in(ids=["s"], summary_id="x", version=0)
    restored = uncompress([message], {"s": message}, accept_foreign=True)
    assert restored.missing_ids == ["s"]


ERRORS: list[Callable[[], object]] = [
    lambda: compress(3),
    lambda: compress([{}]),
    lambda: compress([OK], recency_window=-1),
    lambda: uncompress([OK], 3),  # type: ignore[arg-type]
    lambda: classify(3),  # type: ignore[arg-type]
    lambda: MemoryStore().get("key"),
]


@pytest.mark.parametrize("call", ERRORS)
def test_everything_is_caught_by_the_root(call: Callable[[], object]) -> None:
    with pytest.raises(RefoldError):
        call()
