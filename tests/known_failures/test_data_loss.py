"""Known failures 1–9: originals that were lost although everything was said to be reversible.

| entry | not applicable here            | what is tested instead              |
|-------|--------------------------------|-------------------------------------|
| 1     | adapters, coreference prefixes | contradiction tags, folded again    |
| 3     | flow chains and clusters       | order and number of messages        |
| 4     | the tool pre-pass              | its four inputs round-trip whole    |
"""

from __future__ import annotations

from typing import Any

import pytest

from refold import MemoryStore, MessageError, uncompress
from tests.classic import compress
from tests.conversations import Conversation, all_text, sources_of, spelled

DULL = "The office plants were watered on time and nobody had anything to add to the usual round. "


def user(id_: str, content: str) -> dict[str, Any]:
    return {"id": id_, "role": "user", "content": content}


def assistant(id_: str, content: str) -> dict[str, Any]:
    return {"id": id_, "role": "assistant", "content": content}


OLD_PLAN = (
    "We cache all user sessions in Redis with two replicas and evict them after an hour. " * 8
)
CORRECTION = "Actually, use Memcached for the user sessions instead of Redis with its two replicas."


def corrected() -> Conversation:
    return [
        user("old", OLD_PLAN),
        assistant("a1", "ok"),
        user("cor", CORRECTION),
        assistant("a2", "ok"),
    ]


@pytest.mark.parametrize("newer_wins", [True, False])
def test_kf_01_recompression_keeps_originals(newer_wins: bool) -> None:
    messages = corrected()
    one = compress(messages, contradiction_detection=True, recency_window=1)
    assert one.messages[0]["content"].startswith("[cce:superseded by cor (explicit_correction) — ")
    two = compress(one.messages, recency_window=0)
    three = compress([*two.messages, user("u", DULL * 4)], recency_window=0, embed_summary_id=True)
    verbatim: dict[str, Any] = {}
    for result in (one, two, three) if newer_wins else (three, two, one):
        verbatim.update(result.verbatim)
    restored = uncompress(three.messages, verbatim)
    assert restored.messages == [*messages, user("u", DULL * 4)]
    assert restored.missing_ids == []


def test_kf_01_a_stand_in_that_is_folded_again_does_not_bury_its_original() -> None:
    messages = [user(f"m{n}", DULL * (3 + n)) for n in range(4)]
    history: Conversation = []
    verbatim: dict[str, Any] = {}
    for message in messages:
        result = compress([*history, message], recency_window=0, observation_threshold=10)
        assert not set(result.verbatim) & set(verbatim) - {message["id"]}
        history, verbatim = result.messages, {**verbatim, **result.verbatim}
    assert uncompress(history, verbatim).messages == messages


def test_kf_02_duplicate_ids_are_refused() -> None:
    with pytest.raises(MessageError, match=r"messages\[1\]\.id: .*'1'.*messages\[0\]"):
        compress([user("1", DULL * 4), user("1", CORRECTION * 4)])


def test_kf_02_an_id_of_our_own_never_collides_with_one_of_the_callers() -> None:
    bare = {"role": "user", "content": DULL * 4}
    taken = next(iter(compress([bare], recency_window=0).verbatim))
    messages: Conversation = [bare, assistant("a", "ok"), user(taken, CORRECTION * 4)]
    with pytest.raises(MessageError) as refused:  # rather than keep two texts under one id
        compress(messages, recency_window=0)
    assert refused.value.place == "messages[2].id"


@pytest.mark.parametrize("fuzzy", [True, False])
def test_kf_03_messages_are_neither_duplicated_nor_reordered(fuzzy: bool) -> None:
    fenced = f"{DULL * 2}\n\n```py\nprint(1)\n```\n\n{DULL * 2}"
    messages = [
        user("q", "Which of the two harbour routes should the new ferry take in winter? " * 3),
        assistant("mid", fenced),
        assistant("a", "The northern route is better because it stays free of ice longer. " * 3),
        user("x", DULL * 4),
        user("c", "Perfect, the northern route it is, and thanks for the quick answer. " * 3),
        user("z", "What about the summer?"),
    ]
    result = compress(
        messages,
        recency_window=1,
        fuzzy_dedup=fuzzy,
        importance_scoring=True,
        contradiction_detection=True,
        trace=True,
    )
    assert [one for behind in sources_of(result) for one in behind] == messages
    assert [entry.message_id for entry in result.decisions] == ["q", "mid", "a", "x", "c", "z"]
    figures = result.compression
    assert figures.messages_compressed + figures.messages_preserved == len(messages)


DIFF = "diff --git a/pay.py b/pay.py\n--- a/pay.py\n+++ b/pay.py\n@@ -1,2 +1,14 @@\n" + "\n".join(
    f"+    total_{n} = price_{n} * count_{n}" for n in range(12)
)
LOG = "\n".join(
    f"01/15 10:{n:02} {'ERROR disk full on /dev/sda1' if n in (4, 7) else 'INFO heartbeat'} {n}"
    for n in range(14)
)
TRACE = "TypeError: cannot read properties of undefined (reading 'id')\n" + "\n".join(
    f"    at step{n} (/srv/shop/node_modules/lib{n}/index.js:{n}0:1{n})" for n in range(6)
)
SOURCE = "\n".join(
    f"export function rule{n}(cart: Cart): number {{\n  return cart.items[{n}].price * {n};\n}}"
    for n in range(35)
)


@pytest.mark.parametrize("text", [DIFF, LOG, TRACE, SOURCE], ids=["diff", "log", "trace", "read"])
def test_kf_04_tool_results_survive_or_come_back(text: str) -> None:
    messages: Conversation = [
        {"role": "user", "content": "Have a look at it."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"path": "/srv/shop/app/pay.ts"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": text},
        {"role": "user", "content": "The file /srv/shop/app/pay.ts must not be modified."},
    ]
    result = compress(messages, recency_window=0, trace=True)
    restored = uncompress(result.messages, result.verbatim)
    assert restored.messages == messages
    assert restored.missing_ids == []
    seen = result.messages[2]["content"]
    assert seen == text or seen in result.verbatim or seen.startswith("[summary")
    reason = result.decisions[2].reason
    assert "supersede" not in reason
    assert "duplicate" not in reason


def test_kf_04_what_matters_stays_readable() -> None:
    def seen(text: str) -> str:
        return all_text(compress([{"role": "tool", "content": text}], recency_window=0).messages)

    assert "ERROR disk full on /dev/sda1 4" in seen(LOG)
    assert "ERROR disk full on /dev/sda1 7" in seen(LOG)
    assert seen(TRACE) == TRACE


def test_kf_05_untouched_messages_gain_nothing() -> None:
    messages: Conversation = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": DULL * 4},
        {"role": "assistant", "content": "ok"},
        user("with-id", "short"),
        user("long-with-id", CORRECTION * 4),
    ]
    result = compress(messages, recency_window=0)
    assert [list(message) for message in result.messages[:4]] == [list(m) for m in messages[:4]]
    assert result.messages[3] == messages[3]
    assert all("metadata" not in original for original in result.verbatim.values())
    restored = uncompress(result.messages, result.verbatim).messages
    assert spelled(restored) == spelled(messages)


@pytest.mark.parametrize("strategy", ["binary-search", "tiered"])
@pytest.mark.parametrize("budget", [0, 100, 300, 600, 900, 10_000])
def test_kf_05_budgets_add_nothing_to_what_they_leave(strategy: str, budget: int) -> None:
    said = [f"{n}: {DULL * 3}" for n in range(14)]
    messages = [(user if n % 2 == 0 else assistant)(f"m{n}", text) for n, text in enumerate(said)]
    result = compress(messages, token_budget=budget, budget_strategy=strategy)
    known = {message["id"]: message for message in messages}
    for message in result.messages:
        if not message["content"].startswith("["):
            assert spelled([message]) == spelled([known[message["id"]]])
    kept = {key: m for key, m in result.verbatim.items() if not key.startswith("refold:")}
    assert all(spelled([m]) == spelled([known[id_]]) for id_, m in kept.items())
    restored = uncompress(result.messages, result.verbatim).messages
    assert spelled(restored) == spelled(messages)


@pytest.mark.parametrize(
    "id_",
    ["__proto__", "constructor", "toString", "__class__", "keys", "get", "\0", "refold:fold:"],
)
def test_kf_06_any_string_is_a_good_id(id_: str) -> None:
    messages: Conversation = [user(id_, DULL * 4), assistant("b", "ok")]
    store = MemoryStore()
    result = compress(messages, recency_window=0, store=store)
    assert result.verbatim[id_] == messages[0]
    assert uncompress(result.messages, result.verbatim).messages == messages
    assert uncompress(result.messages, store).messages == messages
    empty = uncompress(result.messages, {})
    assert empty.messages == result.messages
    assert not empty.complete
    del result.verbatim[id_]
    lost = uncompress(result)
    assert lost.messages == result.messages
    assert lost.missing_ids == [id_]


def test_kf_07_a_partial_store_keeps_the_summary() -> None:
    messages = [user("a", DULL * 3), user("b", CORRECTION * 3)]
    result = compress(messages, recency_window=0)
    (summary,) = result.messages
    for have, lack in (("a", "b"), ("b", "a")):
        known = {key: value for key, value in result.verbatim.items() if key != lack}
        assert have in known
        restored = uncompress([summary], known)
        assert restored.messages == [summary]
        assert restored.missing_ids == [lack]
        assert restored.messages_expanded == 0


def test_kf_07_a_wrong_original_is_as_good_as_none() -> None:
    result = compress([user("a", DULL * 3)], recency_window=0)
    other = {**result.verbatim, "a": user("a", "something else altogether")}
    restored = uncompress(result.messages, other)
    assert restored.messages == result.messages
    assert restored.missing_ids == ["a"]


def test_kf_08_originals_are_copies() -> None:
    message: dict[str, Any] = {
        "id": "a",
        "role": "user",
        "content": DULL * 3,
        "tags": {"deep": [1]},
    }
    result = compress([message], recency_window=0)
    message["tags"]["deep"].append(2)
    message["content"] = "changed"
    assert result.verbatim["a"]["tags"] == {"deep": [1]}
    restored = uncompress(result.messages, result.verbatim)
    restored.messages[0]["tags"]["deep"].append(3)
    assert result.verbatim["a"]["tags"] == {"deep": [1]}
    assert result.messages[0]["tags"] == {"deep": [1]}


def test_kf_09_a_missing_id_is_listed_once() -> None:
    messages = corrected()
    one = compress(messages, contradiction_detection=True, recency_window=1)
    two = compress(one.messages, recency_window=0, observation_threshold=1)
    restored = uncompress([*two.messages, *two.messages], {})
    assert len(restored.missing_ids) == len(set(restored.missing_ids))
    without = {
        key: value for key, value in {**one.verbatim, **two.verbatim}.items() if key != "old"
    }
    assert uncompress(two.messages, without).missing_ids == ["old"]


@pytest.mark.parametrize("messages", [[None], [3], ["x"], None])
def test_kf_09_bad_messages_do_not_crash(messages: Any) -> None:
    with pytest.raises(MessageError, match="messages"):
        uncompress(messages, {})
