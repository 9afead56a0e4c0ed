"""A view is known by what it says; its records say what it stands for, or that they are damaged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import ConfigError, MemoryStore, Store, StoreError, uncompress
from refold.messages.manifest import Behind, Trail, ViewRow, read_wording, write_view
from refold.messages.wire import digest
from tests.classic import compress
from tests.conversations import Conversation

LONG = "The night crew looked at every lamp of the harbour and wrote down which of them were out. "
LOOK = {"name": "look", "arguments": '{"a": 1, "b": 2}'}
CALL = {"id": "c1", "type": "function", "function": LOOK}


def talk(count: int) -> Conversation:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": f"Report {n}. {LONG * 4}"} for n in range(count)]


def fold(messages: Conversation, store: Store | None = None, **chosen: Any) -> Conversation:
    return compress(messages, store=store, recency_window=0, **chosen).messages


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"content": "Hi."}, {"content": " Hi.\n"}),
        ({"content": "Hi."}, {"content": [{"type": "text", "text": "Hi."}]}),
        ({"content": "Hi."}, {"content": "Hi.", "id": "m1", "metadata": {"a": 1}, "name": "Ann"}),
        (
            {"content": "Hi."},
            {"content": "Hi.", "tool_calls": None, "audio": None},
        ),
        (
            {"content": [{"type": "text", "text": "Hi."}]},
            {"content": [{"text": "Hi.", "type": "text", "cache_control": {"type": "ephemeral"}}]},
        ),
        (
            {"content": "Hi."},
            {"content": [{"type": "thinking", "thinking": "?"}, {"type": "text", "text": "Hi."}]},
        ),
        (
            {"content": None, "tool_calls": [CALL]},
            {
                "content": "",
                "tool_calls": [
                    {**CALL, "function": {"arguments": '{"b":2,"a":1}', "name": "look"}},
                ],
            },
        ),
    ],
)
def test_these_say_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    role = {"role": "assistant"}
    assert read_wording({**role, **one}).key == read_wording({**other, **role}).key


@pytest.mark.parametrize(
    "other",
    [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "text", "text": t} for t in ("H", "i.")]},
        {"role": "assistant", "content": "Hi.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "Hi."},
    ],
)
def test_these_say_something_else(other: dict[str, Any]) -> None:
    assert read_wording({"role": "assistant", "content": "Hi."}).key != read_wording(other).key


@given(st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=4))
def test_whatever_is_no_message_says_all_that_it_has(value: Any) -> None:
    wording = read_wording({"what": value})
    assert wording == read_wording({"what": value, "id": "a", "metadata": {}})
    assert wording.key != read_wording({"what": [value]}).key


def test_a_record_that_was_changed_is_none() -> None:
    behind = Behind.made(("a" * 40, "b" * 40), ("m1", "m2"))
    record = behind.to_record()
    assert Behind.from_record(behind.fold, record) == behind
    assert Behind.from_record(behind.fold, record.replace("aa", "ac")) is None
    assert Behind.from_record(behind.fold, "[" * 9_000) is None


@pytest.mark.parametrize("kind", ["refold:view:", "refold:fold:", ""])
def test_what_is_gone_or_damaged_is_said_and_its_stand_in_stays(kind: str) -> None:
    result = compress(talk(3), recency_window=0)
    keys = [k for k in result.verbatim if k.startswith(kind) and (kind or ":" not in k)]
    for key in keys:
        value = result.verbatim[key]
        other = value.replace('"', "'") if isinstance(value, str) else {**value, "content": "No."}
        for known in ({**result.verbatim, key: other}, {**result.verbatim, key: None}):
            back = uncompress(result.messages, known)
            assert not back.complete
            assert set(map(str, back.messages)) <= {*map(str, result.messages), *map(str, talk(3))}
            if kind != "refold:view:" or other in known.values():
                assert back.missing_ids
                with pytest.raises(StoreError, match="are missing"):
                    uncompress(result.messages, known, strict=True)


def test_a_stand_in_comes_back_as_a_whole_or_in_part_if_that_is_wanted() -> None:
    messages = talk(8)
    result = compress(messages, token_budget=200, recency_window=0, min_recency_window=0)
    assert len(result.messages) < len(messages)
    lost = next(key for key in result.verbatim if ":" not in key)
    known = {key: value for key, value in result.verbatim.items() if key != lost}
    assert uncompress(result.messages, known).missing_ids == [lost]
    partly = uncompress(result.messages, known, partial=True)
    assert partly.messages == [m for m in messages if m != result.verbatim[lost]]
    assert not partly.complete


def test_a_user_who_quotes_a_mark_makes_no_call_raise() -> None:
    store = MemoryStore()
    view = fold(talk(4), store, conversation="desk")
    quoted = {"role": "user", "content": "What does [shortened #kdbfq] mean?"}
    for name, places in (("desk", (4,)), ("other", (0, 1, 2, 3, 4))):
        back = uncompress([*view, quoted], store, conversation=name)
        assert back.unknown == places
        assert back.is_known == (name == "desk")
        assert "messages[4]" in back.explain() or name == "other"
    strictly = uncompress([*view, quoted], store, conversation="desk", strict=True)
    assert strictly.messages == [*talk(4), quoted]
    with pytest.raises(StoreError, match="another store or conversation="):
        uncompress([*view, quoted], store, conversation="other", strict=True)


def test_a_copy_of_what_is_there_is_not_doubtful() -> None:
    store = MemoryStore()
    view = fold(talk(4), store, conversation="desk")
    back = uncompress([*view, view[2]], store, conversation="desk", strict=True)
    assert back.messages == [*talk(4), view[2]]
    assert back.complete
    again = uncompress([*view, view[2]], store, conversation="desk", edited=True)
    assert again.messages == back.messages


def test_a_copy_of_what_is_behind_another_stand_in_is_text() -> None:
    """Both are known by their ids; one stands for a part of what the other one stands for."""
    store, messages = MemoryStore(), [{"id": f"m{n}", **m} for n, m in enumerate(talk(6))]
    first = fold(messages, store, conversation="desk")
    second = fold(first, store, conversation="desk", token_budget=60, min_recency_window=0)
    assert len(second) < len(first)
    inner = next(m for m in first[1:] if m["id"] not in {shown["id"] for shown in second})
    for role in ("user", "assistant"):
        view = [{"role": "user", "content": "Before."}, *second, {**inner, "role": role}]
        back = uncompress(view, store, conversation="desk")
        assert back.messages == [view[0], *messages, view[-1]]


def test_what_was_said_twice_hides_no_stand_in_of_an_edited_view() -> None:
    store = MemoryStore()
    same = {"role": "user", "content": f"Go on, please. {LONG * 3}"}
    messages = [*talk(3), same, *talk(3), same]
    view = compress(
        messages, store=store, conversation="desk", token_budget=150, dedup=False, recency_window=0
    ).messages
    edited = [{"role": "user", "content": "Before."}, *view]
    back = uncompress(edited, store, conversation="desk", edited=True)
    assert back.messages == [edited[0], *messages]


def test_a_result_has_its_originals_and_its_name_with_it() -> None:
    for name in (None, "desk"):
        result = compress(talk(4), recency_window=0, conversation=name)
        back = uncompress(result, strict=True)
        assert back.messages == talk(4)
        assert back.places == (0, 1, 2, 3)
    unfold: Any = uncompress
    with pytest.raises(ConfigError, match="recursive is no longer an option"):
        unfold(result, recursive=False)
    for flag in ("strict", "edited", "partial"):
        with pytest.raises(ConfigError, match=f"{flag} must be True or False"):
            unfold(result, **{flag: 1})


def test_four_hundred_folds_of_folds_are_few_round_trips() -> None:
    asked: list[int] = []

    class Counting(MemoryStore):
        def get(self, keys: Any) -> dict[str, Any]:
            asked.append(1)
            return super().get(keys)

    store, messages = Counting(), talk(4)
    view = messages
    for number in range(400):
        more = {"role": "user", "content": f"And {number}? {LONG}"}
        view, messages = [*view, more], [*messages, more]
        view = compress(
            view, store=store, recency_window=1, token_budget=120, min_recency_window=1
        ).messages
    asked.clear()
    assert uncompress(view, store).messages == messages
    assert len(asked) < 60


def test_records_are_plain_data() -> None:
    verbatim = compress(talk(4), recency_window=0, conversation="desk").verbatim
    assert json.loads(json.dumps(verbatim)) == verbatim


def test_a_stand_in_for_a_pasted_stand_in_is_text_where_that_one_is_there() -> None:
    """It is known by its id; what it stands for reads like a stand-in, but is none."""
    plain = {"id": "a1", "role": "user", "content": "Before."}
    pasted = {"id": "p1", "role": "assistant", "content": f"[part #kdbfq]\n{LONG}"}
    shown = {**pasted, "content": "[1 message #kdbfq]"}
    both = {"role": "assistant", "content": "[2 messages #abcde]"}
    records: dict[str, Any] = {digest(message): message for message in (plain, pasted)}
    for view, sources in (([plain, shown], [pasted]), ([both], [plain, pasted])):
        behind = Behind.made([digest(m) for m in sources], [m["id"] for m in sources])
        rows = [ViewRow(read_wording(message), None) for message in view[:-1]]
        rows.append(ViewRow(read_wording(view[-1]), behind, is_new=True, id=view[-1].get("id")))
        records |= write_view(Trail.named("desk"), rows)[0]
    assert uncompress([plain, shown], records, conversation="desk").messages == [plain, pasted]
    assert uncompress([shown], records, conversation="desk").messages == [pasted]
    back = uncompress([both, shown], records, conversation="desk")
    assert back.messages == [plain, pasted, shown]
