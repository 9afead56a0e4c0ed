"""Sessions that go back, go two ways, and keep what was pinned."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import MemoryStore, MessageError, Session, StoreError, compress, uncompress
from tests.conversations import Conversation, conversations, spelled, without_thinking

PROFILES = ("standard", "lossless", "classic")
LINES = (
    "The crane in bay {n} was greased on Monday and lifted {n}40 kg without any noise.",
    "Nobody has looked at the cable drum of bay {n} since the storm in spring.",
    "The foreman wants the report of bay {n} before the ferry leaves at noon.",
    "It rained for most of the week, so the yard stayed empty and the gates were shut.",
)


def report(n: int) -> dict[str, Any]:
    text = " ".join(line.format(n=n + k) for k in range(3) for line in LINES)
    return {"role": "assistant", "content": text}


def long_talk(turns: int = 12) -> Conversation:
    talk: Conversation = [{"role": "user", "content": "Look after the cranes."}]
    for n in range(turns):
        talk += [report(n), {"role": "user", "content": f"Go on with bay {n + 1}."}]
    return talk


def looked_up(name: str) -> Conversation:
    function = {"name": "look", "arguments": '{"bay": "the last one by the old lighthouse"}'}
    call = {"id": name, "type": "function", "function": function}
    result = {"role": "tool", "tool_call_id": name, "content": report(9)["content"]}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, result]


def viewed(messages: Conversation, **choices: Any) -> Session:
    session = Session(**choices)
    session.extend(messages)
    session.view()
    return session


def restored(session: Session, view: Conversation) -> str:
    return spelled(uncompress(view, session.verbatim).messages)


def unhandled(view: Conversation) -> str:
    """Spell a view without thinking and handles: the first one is long, which thinking may have."""
    return re.sub(r"#[a-z]{5,28}(?=\W)", "#", spelled([*map(without_thinking, view)]))


def test_a_fork_goes_its_own_way() -> None:
    messages = long_talk()
    session = viewed(messages, store=MemoryStore())
    fork = session.fork()
    assert spelled(fork.view()) == spelled(session.view())
    fork.append({"role": "user", "content": "Only this one hears me."})
    assert spelled(session.messages) == spelled(messages)
    assert spelled(fork.messages[:-1]) == spelled(messages)
    for one in (session, fork):
        assert restored(one, one.view()) == spelled(one.messages)


def test_a_fork_of_a_session_that_has_gone_back_knows_what_was_sent() -> None:
    session = viewed(long_talk(), token_budget=4_000)
    session.truncate(5)
    assert spelled(session.fork().view()) == spelled(session.view()) == spelled(session.messages)


def test_pop_takes_back_what_came_last() -> None:
    messages = long_talk()
    session = viewed(messages)
    before = session.view()
    session.append({"role": "user", "content": "Wrong."})
    session.view()
    assert session.pop() == {"role": "user", "content": "Wrong."}
    assert spelled(session.view()) == spelled(before)
    assert session.report.first_changed == len(before)
    empty = Session()
    with pytest.raises(MessageError, match="no message to remove"):
        empty.pop()


def test_an_id_that_was_taken_back_is_free() -> None:
    session = Session()
    session.extend([{"role": "user", "content": "a", "id": "one"}] * 1)
    session.append({"role": "user", "content": "b", "id": "two"})
    session.pop()
    session.append({"role": "user", "content": "c", "id": "two"})
    assert [message["content"] for message in session.messages] == ["a", "c"]


@given(conversations(), st.data(), st.sampled_from(PROFILES))
def test_after_going_back_a_session_is_as_a_fresh_one(
    messages: Conversation, data: st.DataObject, profile: Any
) -> None:
    length = data.draw(st.integers(0, len(messages)))
    session = viewed(messages, profile=profile, recency_window=1)
    is_undone = length < len(messages)
    session.truncate(length)
    assert spelled(session.messages) == spelled(messages[:length])
    session.extend(messages[length:])
    fresh = viewed(messages, profile=profile, recency_window=1)
    if is_undone:
        shown, anew = session.view(), fresh.view()
        assert unhandled(shown) == unhandled(anew)
    assert restored(session, session.view()) == spelled(messages)


@pytest.mark.parametrize("budget", [None, 500])
@pytest.mark.parametrize("profile", PROFILES)
def test_going_back_behind_a_fold_begins_anew(profile: Any, budget: int | None) -> None:
    messages = long_talk(30)
    session = Session(profile=profile, token_budget=budget, store=MemoryStore())
    for message in messages:
        session.append(message)
        session.view()
    session.truncate(21)
    session.extend(messages[21:31])
    fresh = viewed(messages[:31], profile=profile, token_budget=budget, store=MemoryStore())
    assert spelled(session.view()) == spelled(fresh.view())
    assert restored(session, session.view()) == spelled(messages[:31])


@pytest.mark.parametrize("profile", PROFILES)
def test_a_budget_that_cannot_be_kept_is_tried_once(profile: Any) -> None:
    session = viewed([*long_talk(2), *looked_up("c1")], profile=profile, token_budget=10)
    session.extend([*long_talk(2), *looked_up("c2")])
    shown, folds = spelled(session.view()), session.report.folds
    assert session.report.budget is not None
    assert not session.report.budget.fits
    assert spelled(session.view()) == shown
    assert session.report.folds == folds
    assert session.report.first_changed == session.report.messages


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_pinned_is_never_touched(profile: Any) -> None:
    messages = long_talk()
    messages[3] = {**messages[3], "id": "report-1"}
    for pins in (["report-1"], [lambda message: message.get("id") == "report-1"]):
        for budget in (None, 400):
            result = compress(messages, profile=profile, pins=pins, token_budget=budget)
            assert messages[3] in result.messages
            assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(
                messages
            )


def test_a_role_can_be_pinned() -> None:
    messages = long_talk()
    result = compress(messages, pins=["role:assistant"])
    assert spelled(result.messages) == spelled(messages)


@pytest.mark.parametrize("budget", [400])
@pytest.mark.parametrize("profile", ["standard", "classic"])
def test_what_is_pinned_later_comes_back_into_view(profile: Any, budget: int | None) -> None:
    messages = long_talk()
    messages[3] = {**messages[3], "id": "report-1"}
    session = Session(profile=profile, token_budget=budget)
    session.extend(messages)
    assert messages[3] not in session.view()
    session.pin("report-1")
    view = session.view()
    assert messages[3] in view
    assert restored(session, view) == spelled(messages)
    session.append({"role": "user", "content": "And now?"})
    assert messages[3] in session.view()


@pytest.mark.parametrize("profile", ["standard", "classic"])
def test_thinking_that_comes_back_with_what_was_pinned_is_left_out(profile: Any) -> None:
    session = Session(profile=profile, token_budget=100)
    for n in range(4):
        thought = {"type": "thinking", "thinking": "Hm.", "signature": f"c{n}"}
        call = {"type": "tool_use", "id": f"c{n}", "name": "look", "input": {"bay": n}}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": report(n)["content"]}
        session.append({"role": "user", "content": f"Go on with bay {n}."})
        session.append({"role": "assistant", "content": [thought, call]})
        session.append({"role": "user", "content": [result]})
        sent = [spelled([message]) for message in session.view()]
    assert len(sent) < 9
    session.pin("role:user")
    view = session.view()
    same = next(n for n, message in enumerate(view) if spelled([message]) != sent[n])
    assert "thinking" not in spelled(view[same:])
    assert session.report.thinking == "stripped"
    assert restored(session, view) == spelled(session.messages)


@pytest.mark.parametrize("profile", PROFILES)
def test_pins_that_were_there_before_change_nothing_when_a_session_goes_on(profile: Any) -> None:
    store = MemoryStore()
    session = Session(profile=profile, store=store, pins=["role:user"], recency_window=0)
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    session.append({"role": "user", "content": "Look after the cranes."})
    session.append({"role": "assistant", "content": [thought, {"type": "text", "text": "Well."}]})
    session.view()
    for n in range(5):
        session.append({"role": "user", "content": f"Go on with bay {n}."})
        session.append(
            {"role": "assistant", "content": [{"type": "text", "text": report(n)["content"]}]}
        )
    shown = spelled(session.view())
    assert spelled(Session.resume(session.save(store), store).view()) == shown


def test_pins_are_saved_and_functions_must_be_given_again() -> None:
    store = MemoryStore()
    session = viewed(long_talk())
    session.pin("m1")
    assert Session.resume(session.save(store), store).options.pins == ("m1",)
    session.pin(callable)
    key = session.save(store)
    with pytest.raises(Exception, match="pins"):
        Session.resume(key, store)
    assert Session.resume(key, store, pins=[callable]).options.pins == (callable,)
    assert session.fork().options.pins == ("m1", callable)


class Silent(MemoryStore):
    """A store whose server does not answer at times."""

    is_silent = False

    def get(self, keys: Any) -> dict[str, Any]:
        if self.is_silent:
            raise StoreError("the server does not answer")
        return super().get(keys)


def spoken(n: int) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": report(n)["content"]}]}


def test_a_message_that_a_store_refused_is_appended_as_if_for_the_first_time() -> None:
    store = Silent()
    session = Session(store=store, conversation="c", profile="classic", recency_window=0)
    session.append({"role": "user", "content": "Look after the cranes."})
    store.is_silent = True
    with pytest.raises(StoreError):
        session.append(spoken(1))
    store.is_silent = False
    session.append(spoken(1))
    shown = spelled(session.view())
    assert spelled(session.fork().view()) == shown
    assert spelled(Session.resume(session.save(store), store, conversation="c").view()) == shown


def test_a_message_that_was_said_before_is_known_after_going_back() -> None:
    store = MemoryStore()
    session = Session(
        store=store, conversation="c", profile="classic", recency_window=0, dedup=False
    )
    session.append({"role": "user", "content": "Look after the cranes."})
    session.extend([spoken(1), {"role": "user", "content": "Once more."}, spoken(1)])
    session.truncate(3)
    session.append(spoken(1))
    shown = spelled(session.view())
    assert spelled(session.fork().view()) == shown
    assert spelled(Session.resume(session.save(store), store, conversation="c").view()) == shown


@pytest.mark.parametrize("profile", ["standard", "classic"])
def test_thinking_behind_a_fold_goes_when_a_session_goes_back_behind_it(profile: Any) -> None:
    session = Session(profile=profile, conversation="c")
    session.extend([{"role": "user", "content": "Look after the cranes."}, spoken(1)])
    session.view(200)
    assert session.report.folds
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    said = {"type": "text", "text": "Well."}
    session.append({"role": "user", "content": "Go on."})
    session.append({"role": "assistant", "content": [thought, said]})
    session.extend([{"role": "user", "content": "Go on."}, spoken(2), spoken(3)])
    session.view(400)
    session.truncate(5)
    for taken_up in (session.fork(), session):
        view = taken_up.view(20_000)
        assert "thinking" not in spelled(view)
        back = uncompress(view, taken_up.verbatim, conversation="c").messages
        assert spelled(back) == spelled(session.messages)
