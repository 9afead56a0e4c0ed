"""Cache marks are no part of a message; what went out last goes out again, before what is new."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from refold.errors import StoreError
from refold.messages.cache_marks import without_marks
from refold.server.proxy.folding import Folder
from refold.server.proxy.ledger import CAME, SENT, Sent
from refold.server.proxy.request import Folded, Job, Known, Request
from refold.server.proxy.settings import Settings
from refold.stores import SqliteStore
from refold.stores.scope import ScopedStore

MARK = {"cache_control": {"type": "ephemeral"}}
TEXT = {"type": "text", "text": "read the logs"}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "fine"}


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ([{**TEXT, **MARK}], "read the logs"),  # Claude Code, with reminders in the system's name
        ([{**TEXT, **MARK}], [TEXT]),
        ([TEXT, {**TEXT, **MARK}], [TEXT, TEXT]),
        ([{**RESULT, **MARK}], [RESULT]),
    ],
)
def test_a_mark_that_has_moved_on_makes_no_difference(marked: Any, plain: Any) -> None:
    with_mark, without = ({"role": "system", "content": content} for content in (marked, plain))
    assert without_marks([with_mark]) == without_marks([without])


def test_blocks_that_say_more_than_their_text_stay() -> None:
    cited = {"role": "user", "content": [{**TEXT, "citations": []}]}
    assert without_marks([cited]) == [cited]


def job(messages: list[Any], *, tenant: str = "t", model: str = "m") -> Job:
    body = {"model": model, "messages": messages, "tools": [{"name": "read"}]}
    return Job("anthropic", "/v1/messages", tenant, "s", json.dumps(body).encode(), 0.0)


def block(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text, **more}]}


LONG, SHORT, NEW = block("long"), block("short"), block("new", **MARK)
ASK = {"role": "user", "content": "ask"}
SAID = {"role": "assistant", "content": "said"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(store=str(tmp_path / "originals.db"))


def enter(settings: Settings, messages: list[Any], sent: list[Any], *, first: int = 0) -> None:
    """Record a request as a folder does before it goes out: from message *first* of its view on.

    What is in *sent* is a message, or one that stands for so many of the client's.
    """
    request, rows, end = Request(job(messages), settings), list[Any](), first
    for one in sent:
        wire, length = one if isinstance(one, tuple) else (one, 1)
        is_given = length == 1 and wire == request.messages[end]
        rows.append([end, end + length, 1, None if is_given else wire, False, ""])
        end += length
    trace = {"view": {"items": rows, "covered": end}}
    record = Sent(first=first, trace=trace, saved=5, saved_by_folds=0, is_offered=True)
    with SqliteStore(settings.store) as store:
        ScopedStore(store, "t").put({SENT + request.about.beginning: record})


def recall(settings: Settings, one: Job) -> Folded | None:
    return Folder(settings, lambda: 0.0).recall(one)


def sent_for(settings: Settings, messages: list[Any]) -> Any:
    """Return the messages that go out for those of a client."""
    known = recall(settings, job(messages))
    assert known is not None
    return messages if known.body is None else json.loads(known.body)["messages"]


def test_the_past_is_as_it_was_sent_and_marks_are_where_they_are_now(settings: Settings) -> None:
    enter(settings, [ASK, block("long", **MARK)], [ASK, SHORT])
    later = job([ASK, block("long", **MARK), SAID, NEW])
    known = recall(settings, later)
    assert known is not None
    assert known.body is not None
    body = json.loads(known.body)
    assert body["messages"] == [ASK, block("short", **MARK), SAID, NEW]
    assert [tool["name"] for tool in body["tools"]] == ["read", "retrieve_original"]
    assert known.beginning == Request(later, settings).about.beginning
    assert known.saved_before == 5
    assert not known.is_recorded
    again = recall(settings, job([ASK, block("long", **MARK)]))
    assert again is not None
    assert again.is_recorded


def test_a_beginning_that_was_folded_anew_is_sent_so(settings: Settings) -> None:
    enter(settings, [ASK, LONG], [ASK, SHORT])
    enter(settings, [ASK, LONG, SAID, LONG], [ASK, (SAID, 3)])
    three = Request(job([ASK, LONG, SAID, LONG, SAID, LONG]), settings)
    rows = [[4, 5, 1, None, False, ""], [5, 6, 1, SHORT, False, ""]]
    record = Sent(
        first=2,
        trace={"view": {"items": rows, "covered": 6}},
        saved=5,
        saved_by_folds=0,
        is_offered=False,
    )
    with SqliteStore(settings.store) as store:
        ScopedStore(store, "t").put({SENT + three.about.beginning: record})
    sent = sent_for(settings, [ASK, LONG, SAID, LONG, SAID, LONG, SAID, ASK])
    assert sent == [ASK, SAID, SAID, SHORT, SAID, ASK]


def test_what_was_taken_back_went_as_it_came(settings: Settings) -> None:
    enter(settings, [ASK, LONG], [ASK, SHORT])
    enter(settings, [ASK, LONG, SAID, LONG], [SAID, SHORT], first=2)
    with SqliteStore(settings.store) as store:
        name = Request(job([ASK, LONG, SAID, LONG]), settings).about.beginning
        ScopedStore(store, "t").put({CAME + name: True})
    assert sent_for(settings, [ASK, LONG, SAID, LONG, SAID]) == [ASK, SHORT, SAID, LONG, SAID]


def test_what_went_out_as_it_came_counts_whatever_a_late_fold_records(settings: Settings) -> None:
    enter(settings, [ASK, LONG], [ASK, SHORT])
    messages = [ASK, LONG, SAID, LONG]
    assert recall(settings, job(messages)) is not None
    enter(settings, messages, [SAID, SHORT], first=2)  # the proxy may be killed after this
    assert sent_for(settings, [*messages, SAID]) == [ASK, SHORT, SAID, LONG, SAID]


def test_other_conversations_are_none_of_its_business(settings: Settings) -> None:
    enter(settings, [ASK, LONG], [ASK, SHORT])
    for other in ([ASK, block("edited"), SAID], [block("other"), LONG]):
        assert sent_for(settings, other) == other
    later = job([ASK, LONG, SAID], tenant="other")
    known = recall(settings, later)
    assert known is not None
    assert known.body is None
    assert recall(settings, replace(later, body=b"{")) is None


def test_a_store_that_cannot_be_read_says_so(settings: Settings) -> None:
    Path(settings.store).write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreError):
        recall(settings, job([ASK]))


def test_what_is_known_is_not_read_again_and_makes_no_difference(settings: Settings) -> None:
    messages = [ASK, block("long", **MARK), SAID, block("x"), SAID, NEW]
    last: list[Known] = []
    remembered: list[Known] = []
    for end in (1, 2, 4, 6):
        asked = job(messages[:end])
        plain, again = (
            Request(asked, settings),
            Request(asked, settings, remembered),
        )
        assert (again.messages, again.beginnings) == (plain.messages, plain.beginnings)
        if last:
            assert all(
                new is old for new, old in zip(again.messages, last[0].messages, strict=False)
            )
        remembered[:] = last = [again.known()]
        messages = without_marks(messages[:end]) + messages[end:]
    branch = [*messages[:2], block("other"), *messages[3:]]
    other = Request(job(branch), settings, [*last, Known()])
    assert other.beginnings == Request(job(branch), settings).beginnings
    assert other.beginnings[:2] == list(last[0].beginnings[:2])
    assert other.beginnings[2] != last[0].beginnings[2]
