"""Conversations are found again by how they begin, kept apart and folded; no agent is stopped."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import ConfigError, MemoryStore, uncompress
from refold.errors import StoreError
from refold.integrations.choices import CheckedChoices, missing
from refold.integrations.conversations import Conversations, Folded
from refold.private_files import data_file
from tests.conversation.test_arrival import Provider, thinking_agent, thoughts
from tests.integrations.contract import BOUND, MARK, TASK, log_of


def history_of(turns: int, task: str = TASK) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    for n in range(turns):
        function = {"name": "read", "arguments": f'{{"n": {n}}}'}
        call = {"id": f"c{n}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        said = f"{log_of(n)}\nThis was about: {task}"
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": said})
    return messages


def small(**choices: Any) -> Conversations:
    return Conversations(**{"store": MemoryStore(), "token_budget": 3_000, **choices})


def handle_in(folded: Folded) -> str:
    texts = [str(message["content"]) for message in folded.messages]
    return f"#{MARK.findall(next(text for text in texts if MARK.search(text)))[-1]}"


def test_what_is_sent_is_small_and_can_be_restored() -> None:
    conversations, messages = small(), history_of(8)
    folded = conversations.fold(messages)
    assert folded.report.tokens <= 3_000
    assert folded.report.tokens_unfolded > 20_000
    store = conversations.choices.store
    restored = uncompress(folded.messages, store, conversation=folded.conversation)
    assert restored.messages == messages


def test_a_history_that_grows_is_one_conversation() -> None:
    conversations = small(token_budget=100_000)
    before: list[Any] = []
    names = set()
    for turns in range(6):
        folded = conversations.fold(history_of(turns))
        names.add(folded.conversation)
        assert folded.messages[: len(before)] == before
        before = folded.messages
    assert len(names) == 1


def test_the_same_history_again_is_sent_the_same_way() -> None:
    conversations = small()
    first, second = (conversations.fold(history_of(8)).messages for _ in range(2))
    assert first == second


def test_messages_that_do_not_change_are_the_objects_that_were_given() -> None:
    messages = history_of(8)
    sent = small().fold(messages).messages
    assert sent[0] is messages[0]
    assert any(one is not other for one, other in zip(sent, messages, strict=True))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_branches_leave_each_other_alone(lengths: list[int]) -> None:
    """Whatever is asked again from an earlier point: each view stands for its own history."""
    conversations = small(token_budget=2_000)
    for number, turns in enumerate(lengths):
        messages = [*history_of(turns), {"role": "assistant", "content": f"Answer {number}."}]
        folded = conversations.fold(messages)
        store = conversations.choices.store
        restored = uncompress(folded.messages, store, conversation=folded.conversation)
        assert restored.messages == messages


def test_an_answer_that_is_asked_for_again_keeps_what_was_sent() -> None:
    conversations, messages = small(token_budget=8_000), history_of(6)
    before = conversations.fold(messages).messages
    conversations.fold([*messages, {"role": "assistant", "content": "No."}])
    again = conversations.fold([*messages, {"role": "assistant", "content": "Yes."}])
    assert again.messages[: len(before)] == before


def test_conversations_with_names_are_kept_apart() -> None:
    conversations = small()
    one = conversations.fold(history_of(8), conversation="one")
    two = conversations.fold(history_of(8, "What is new?"), conversation="two")
    assert (one.conversation, two.conversation) == ("one", "two")
    handle = {"handle": handle_in(one)}
    assert conversations.retrieve(handle, conversation="one").startswith("[original")
    assert conversations.retrieve(handle, conversation="two").startswith("[there is no original")
    assert "nothing" in conversations.retrieve(handle, conversation="three")


def test_an_original_is_found_by_the_history_and_by_the_task_that_folded_it() -> None:
    conversations, messages = small(), history_of(8)
    handle = {"handle": handle_in(conversations.fold(messages))}
    other = conversations.fold(history_of(8, "What is new?"))
    call = {"role": "assistant", "content": None}
    assert conversations.retrieve(handle, messages=[*messages, call]).startswith("[original")
    assert not conversations.retrieve(handle).startswith("[original"), "another one came after it"
    assert conversations.retrieve({"handle": handle_in(other)}).startswith("[original")


def test_a_question_is_answered_from_its_own_conversation() -> None:
    conversations, asked = small(), {"query": "Where is the anvil?"}
    conversations.fold(history_of(8, "The anvil is in the north."), conversation="one")
    conversations.fold(history_of(8, "The anvil is in the south."), conversation="two")
    answer = conversations.retrieve(asked, conversation="one")
    assert "The anvil is in the north." in answer
    assert "south" not in answer


def test_tasks_have_conversations_of_their_own() -> None:
    conversations = small()

    async def work(task: str) -> str:
        folded = await conversations.afold(history_of(8, task))
        await asyncio.sleep(0)
        return await conversations.aretrieve({"handle": handle_in(folded)})

    async def both() -> list[str]:
        return [*await asyncio.gather(work("one"), work("two"))]

    assert all(answer.startswith("[original") for answer in asyncio.run(both()))


def test_threads_that_go_on_from_the_same_point_do_not_meet() -> None:
    conversations, start = small(), history_of(4)
    conversations.fold(start)

    def go_on(number: int) -> None:
        messages = [*start, {"role": "assistant", "content": f"Answer {number}."}]
        folded = conversations.fold(messages)
        store, name = conversations.choices.store, folded.conversation
        assert uncompress(folded.messages, store, conversation=name).messages == messages

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(go_on, range(16)))


def test_sessions_that_are_forgotten_begin_anew() -> None:
    conversations = small()
    first = conversations.fold(history_of(4, "first"))
    for number in range(70):
        conversations.fold([{"role": "user", "content": f"number {number}"}])
    again = conversations.fold(history_of(4, "first"))
    assert again.conversation != first.conversation
    assert again.report.tokens <= 3_000


def test_what_is_beside_the_messages_counts() -> None:
    conversations = small(token_budget=8_000)
    alone = conversations.fold(history_of(8, "one")).report
    beside = conversations.fold(history_of(8, "two"), beside=["word " * 6_000]).report
    assert beside.tokens < alone.tokens
    assert beside.tokens <= 8_000 - 5_000


def test_by_default_a_conversation_is_folded_when_that_pays() -> None:
    assert CheckedChoices({}).token_budget == "auto"
    assert CheckedChoices({"token_budget": 10}).token_budget == 10
    for wrong in (-1, "all", 0.5):
        with pytest.raises(ConfigError, match="token_budget"):
            CheckedChoices({"token_budget": wrong})  # type: ignore[typeddict-item]
    with pytest.raises(ConfigError, match="window_share is no longer an option"):
        Conversations(window_share=0.5)  # type: ignore[call-arg]


def test_what_cannot_be_folded_is_sent_as_it_is(caplog: Any) -> None:
    messages: list[Any] = [{"role": "user", "content": 17}]
    with caplog.at_level(logging.ERROR, "refold"):
        assert small().fold(messages).messages == messages
    assert "messages[0].content" in caplog.text


class Full(MemoryStore):
    """A store on a disk that is full."""

    def put(self, entries: Any) -> None:
        raise StoreError("the disk is full")


def test_no_agent_stops_because_a_store_fails(caplog: Any) -> None:
    messages = history_of(8)
    with caplog.at_level(logging.ERROR, "refold"):
        assert small(store=Full()).fold(messages).messages == messages
    assert "the disk is full" in caplog.text


class Filling(MemoryStore):
    """A store on a disk that becomes full."""

    is_full = False

    def put(self, entries: Any) -> None:
        if self.is_full:
            raise StoreError("the disk is full")
        super().put(entries)


def test_what_was_sent_is_sent_again_when_a_store_fails(caplog: Any) -> None:
    store = Filling()
    conversations, messages = small(store=store), history_of(9)
    before = conversations.fold(messages[:-2]).messages
    store.is_full = True
    with caplog.at_level(logging.ERROR, "refold"):
        sent = conversations.fold(messages).messages
    assert "the disk is full" in caplog.text
    assert sent == [*before, *messages[-2:]]
    store.is_full = False
    after = conversations.fold(messages)
    restored = uncompress(after.messages, store, conversation=after.conversation)
    assert restored.messages == messages


def test_no_request_is_refused_for_its_thinking_when_a_store_fails_at_times() -> None:
    store, provider = Filling(), Provider()
    conversations, messages = small(store=store, model=BOUND), thinking_agent([80] * 10)
    for end, message in enumerate(messages):
        if message["role"] == "assistant":
            store.is_full = end % 4 == 1
            provider.answer(conversations.fold(messages[:end]).messages, message)


class Failing(MemoryStore):
    """A store that fails at its calls of these names, until it is told otherwise."""

    failing: tuple[str, ...] = ()

    def put(self, entries: Any) -> None:
        if "put" in self.failing:
            raise StoreError("the disk is full")
        super().put(entries)

    def get(self, keys: Any) -> dict[str, Any]:
        if "get" in self.failing:
            raise StoreError("the server does not answer")
        return super().get(keys)


class Agent:
    """Talks with a model that checks its thinking, in one process or in several."""

    def __init__(self, **choices: Any) -> None:
        self.store = Failing()
        self._choices = {"store": self.store, "model": BOUND, **choices}
        self._provider = Provider()
        self._workers = [small(**self._choices), small(**self._choices)]
        self.history: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
        self._turns = 0

    def turn(self, lines: int = 40, worker: int = 0, failing: tuple[str, ...] = ()) -> Folded:
        """Let the model call a tool once more; its provider may refuse what it is sent."""
        self.store.failing = failing
        folded = self._workers[worker].fold(self.history)
        self._answer(folded, lines)
        return folded

    def _answer(self, folded: Folded, lines: int) -> None:
        self._turns += 1
        call, result = thinking_agent([lines])[1:]
        name = f"t{self._turns}"
        call["content"][0]["thinking"] = f"I look once more, for {name}."
        call["content"][1]["id"] = result["content"][0]["tool_use_id"] = name
        self._provider.answer(folded.messages, call)
        self.history = [*self.history, call, result]

    def turns(self, count: int, **how: Any) -> None:
        for _ in range(count):
            self.turn(**how)

    def go_back(self, length: int) -> None:
        self.history = self.history[:length]

    def start_anew(self, worker: int = 0) -> None:
        self._workers[worker] = small(**self._choices)


FAILURES: list[tuple[str, ...]] = [("put",), ("get",), ("put", "get")]


@pytest.mark.parametrize("failing", FAILURES)
def test_a_branch_sends_what_was_sent_when_a_store_fails(failing: tuple[str, ...]) -> None:
    agent = Agent(token_budget=2_000)
    agent.turns(6)
    again = dict(agent.history[10]["content"][0], content=log_of(1))
    agent.go_back(10)
    agent.history.append({"role": "user", "content": [again]})
    folded = agent.turn(failing=failing)
    assert any(thoughts(message) for message in folded.messages), "thinking is left out in vain"


@pytest.mark.parametrize("failing", [(), *FAILURES])
@pytest.mark.parametrize("length", [3, 5, 9])
def test_thinking_behind_a_fold_is_not_sent_when_a_history_goes_back(
    length: int, failing: tuple[str, ...]
) -> None:
    agent = Agent(token_budget=800)
    agent.turns(9)
    agent.go_back(length)
    agent.turns(3, failing=failing)
    agent.turns(3)


@pytest.mark.parametrize("failing", [(), *FAILURES])
def test_another_process_knows_what_thinking_is_bound_to(failing: tuple[str, ...]) -> None:
    agent = Agent(token_budget=800)
    agent.turns(8)
    agent.go_back(5)
    agent.turn()
    agent.start_anew()
    agent.turns(2, failing=failing)
    agent.turns(2)


def test_what_was_sent_while_a_store_failed_is_noted_when_it_works_again() -> None:
    agent = Agent(token_budget=300)
    agent.turn()
    agent.start_anew()
    agent.turn(failing=("get",))
    agent.turn(failing=("put",))
    agent.turn()
    agent.start_anew()
    agent.go_back(5)
    agent.turn(failing=("put",))


def test_processes_that_take_turns_are_not_refused() -> None:
    agent = Agent(token_budget=800)
    for turn in range(12):
        agent.turns(2, worker=turn % 2)


@pytest.mark.parametrize("failing", FAILURES)
def test_a_process_whose_store_never_worked_leaves_no_trace(failing: tuple[str, ...]) -> None:
    """So what it has sent is not known, and the thinking that came of it is left out."""
    agent = Agent(token_budget=800)
    agent.turn(lines=0)
    agent.turns(2, worker=1, failing=failing, lines=0)
    agent.start_anew()
    agent.turns(2)


def test_a_request_may_have_been_repeated_by_a_process_that_could_not_read() -> None:
    agent = Agent(token_budget=800)
    agent.turns(5, lines=0)
    agent.go_back(5)
    agent.start_anew()
    agent.turn(lines=0, failing=("get",))
    agent.start_anew()
    agent.turns(2)


@pytest.mark.parametrize("turns", range(1, 8))
def test_an_answer_may_be_to_another_form_of_the_same_history(turns: int) -> None:
    agent = Agent(token_budget=800)
    agent.turns(turns)
    agent.turn(failing=("put",))
    first = agent.history
    agent.go_back(len(first) - 2)
    agent.turn()
    agent.history = first
    agent.turn()


def test_what_could_not_even_be_read_was_sent_all_the_same() -> None:
    agent = Agent(token_budget=2_000)
    agent.turns(2)
    agent.history[-1]["content"][0]["content"] += "\n[12% shown #kdbfq]"  # is looked up
    agent.turn(failing=("get",))
    agent.turns(2)


def test_a_process_whose_store_fails_at_first_is_not_refused_when_it_works_again() -> None:
    agent = Agent(token_budget=300)
    agent.turns(3, lines=0)
    agent.turns(2, lines=0, worker=1, failing=("put",))
    agent.turns(2, lines=0, worker=1)


def test_nothing_that_was_taken_back_is_sent_again_when_a_store_fails() -> None:
    agent = Agent()
    agent.turn()
    agent.history[-1]["content"][0]["content"] += "\n[12% shown #kdbfq]"
    agent.turn(failing=("put", "get"))
    agent.go_back(3)
    agent.history.append({"role": "user", "content": "Something else."})
    folded = agent.turn(failing=("put", "get"))
    assert folded.messages == agent.history[:4]


def test_a_message_of_thinking_alone_is_not_empty_without_it() -> None:
    agent = Agent(token_budget=800)
    agent.turns(8)
    agent.go_back(5)
    thought = {"type": "thinking", "thinking": "I look once more, for t5.", "signature": "c2ln"}
    agent.history += [{"role": "assistant", "content": [thought]}, agent.history[0]]
    sent = agent.turn(failing=("put",)).messages
    assert sent[5]["content"] == [{"type": "text", "text": "…"}]


def test_a_new_process_leaves_out_thinking_once_and_then_keeps_it() -> None:
    agent = Agent(token_budget=100_000)
    agent.turns(4, lines=0)
    agent.start_anew()
    assert not any(map(thoughts, agent.turn(lines=0).messages))
    assert sum(len(thoughts(message)) for message in agent.turn(lines=0).messages) == 1


def test_a_branch_that_cannot_be_put_on_record_is_sent_without_thinking() -> None:
    agent = Agent(profile="lossless", token_budget=300)
    for lines in (0, 15, 15, 40, 40):
        agent.turn(lines)
    agent.turn(0, worker=1)
    agent.turn(0)
    agent.go_back(7)
    agent.history.append({"role": "user", "content": "Once more."})
    agent.turn(0, failing=("put",))


_MOVES: Final = st.lists(
    st.tuples(
        st.sampled_from(["go on", "go on", "go back", "start anew"]),
        st.integers(0, 9),
        st.sampled_from([0, 15, 40]),
        st.integers(0, 1),
        st.sampled_from([(), (), *FAILURES]),
    ),
    min_size=2,
    max_size=12,
)
"""What may happen turn by turn: what, how far back, how many lines, to whom, and what fails."""


@given(
    _MOVES,
    st.sampled_from(["standard", "classic", "lossless"]),
    st.sampled_from(["auto", "strip"]),
    st.sampled_from([300, 800]),
    st.booleans(),
)
def test_no_request_is_ever_refused_for_its_thinking(
    moved: list[Any], profile: Any, way: Any, budget: int, has_workers: bool
) -> None:
    """Two processes take turns, or one asks for an answer once more."""
    agent = Agent(profile=profile, thinking=way, token_budget=budget)
    for number, (move, turns, lines, which, failing) in enumerate(moved):
        worker = which * has_workers
        if move == "go back":
            agent.go_back(1 + 2 * turns)
            if has_workers:  # which of two processes a repeated request went to is not known
                agent.history.append({"role": "user", "content": f"Once more, {number}."})
        elif move == "start anew":
            agent.start_anew(worker)
            if not has_workers:
                agent.history.append({"role": "user", "content": f"Here I am again, {number}."})
        agent.turn(lines, worker, failing)


def test_what_was_sent_is_sent_again_when_a_message_cannot_be_read() -> None:
    conversations, messages = small(), history_of(8)
    before = conversations.fold(messages).messages
    strange = {"role": "user", "content": 17}
    assert conversations.fold([*messages, strange]).messages == [*before, strange]


@pytest.mark.parametrize(
    "wrong",
    [
        {"window_share": 0},
        {"token_budget": "half"},
        {"thinking": "x"},
        {"tokens": 1},
    ],
)
def test_wrong_choices_are_refused_at_once(wrong: Any) -> None:
    with pytest.raises(ConfigError):
        Conversations(**wrong)


def test_originals_are_kept_in_a_file_if_asked_to(tmp_path: Path) -> None:
    path = tmp_path / "originals.db"
    messages = history_of(8)
    folded = Conversations(store=path, token_budget=3_000).fold(messages)
    again = Conversations(store=str(path), token_budget=3_000).choices.store
    restored = uncompress(folded.messages, again, conversation=folded.conversation)
    assert restored.messages == messages


@pytest.mark.parametrize(
    ("platform", "env", "expected"),
    [
        ("linux", {"HOME": "/h"}, "/h/.local/share/refold/refold.db"),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "/d"}, "/d/refold/refold.db"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/refold/refold.db"),
        ("win32", {"USERPROFILE": "/u"}, "/u/AppData/Local/refold/refold.db"),
        ("win32", {"USERPROFILE": "/u", "LOCALAPPDATA": "/l"}, "/l/refold/refold.db"),
    ],
)
def test_by_default_they_are_kept_in_the_data_folder(
    platform: str, env: dict[str, str], expected: str
) -> None:
    assert data_file(platform, env) == Path(expected)


def test_a_missing_framework_says_what_to_install() -> None:
    assert "pip install 'refold[openai-agents]'" in str(missing("openai-agents", "openai_agents"))
