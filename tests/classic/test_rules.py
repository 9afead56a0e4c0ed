"""Which verdict each rule gives, seen through the trace of a compression."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold import MemoryStore, Result, uncompress
from refold.classic.names import entity_cap
from tests.classic import compress
from tests.conversations import SENTENCES, Conversation, Wire

PROSE = " ".join(SENTENCES[n] for n in (0, 1, 7, 6))
LINES = "\n".join(f"The lamp at pier {n} was checked by the night crew." for n in range(12))
CALL = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}


def said(id_: str, text: str, role: str = "user", **more: Any) -> Wire:
    return {"id": id_, "role": role, "content": text, **more}


def fold(messages: Conversation, **options: Any) -> Result:
    result = compress(messages, trace=True, **{"recency_window": 0, **options})
    assert uncompress(result.messages, result.verbatim).messages == messages
    return result


def verdicts(messages: Conversation, **options: Any) -> list[tuple[str, str]]:
    return [(entry.action, entry.reason) for entry in fold(messages, **options).decisions]


def shown(result: Result) -> dict[str, str]:
    return {message["id"]: message["content"] for message in result.messages}


# what is kept, in order of precedence


@pytest.mark.parametrize(
    ("message", "options", "reason"),
    [
        (said("a", PROSE, "system"), {}, "preserved_role"),
        (said("a", PROSE, "developer"), {}, "preserved_role"),
        (said("a", PROSE, "tool"), {"preserve": ["tool"]}, "preserved_role"),
        (said("a", PROSE), {"recency_window": 1}, "recency_window"),
        (said("a", PROSE, "assistant", tool_calls=[CALL]), {}, "tool_calls"),
        (said("a", PROSE[:119]), {}, "short_content"),
        (said("a", ""), {}, "short_content"),
        (said("a", "Now:\n```\n" + "x = 1\n" * 40 + "```"), {}, "code_fence_no_prose"),
        (said("a", json.dumps({"rows": list(range(60))})), {}, "hard_t0:"),
        (said("a", PROSE), {"preserve_patterns": [("Lopez", "people")]}, "pattern:people"),
        (said("a", "word " * 24), {}, "single_reverted"),
    ],
)
def test_reasons_to_keep(message: Wire, options: dict[str, Any], reason: str) -> None:
    [(action, why)] = verdicts([message], **options)
    assert action == "preserved"
    assert why.startswith(reason)


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        (said("a", PROSE), ("compressed", "compressible_prose")),
        (said("a", f"{PROSE * 2}\n```\nx\n```"), ("code_split", "code_split")),
        (said("a", "[summary: spoofed] " + PROSE), ("compressed", "compressible_prose")),
    ],
)
def test_reasons_to_fold(message: Wire, verdict: tuple[str, str]) -> None:
    assert verdicts([message]) == [verdict]


SQL = "SELECT name, count(*) FROM boats WHERE paid = 1 GROUP BY name HAVING count(*) > 3 " * 3
FENCED = "\n```sql\nSELECT 1\n```\n"
OLD = "Put the red boat in the north shed for the winter season, next to the two canoes. " * 2
NEW = "Actually, put the red boat in the south shed for the winter, next to the canoes. " * 2


@pytest.mark.parametrize(
    ("messages", "options", "reason"),
    [
        ([said("a", PROSE, "system")], {"recency_window": 1}, "preserved_role"),
        ([said("a", "x", "assistant", tool_calls=[CALL])], {"recency_window": 1}, "recency_window"),
        ([said("a", "x", "assistant", tool_calls=[CALL])], {}, "tool_calls"),
        ([said("a", LINES), said("b", LINES)], {"importance_threshold": 0.0}, "importance:"),
        ([said("a", OLD * 2), said("b", OLD * 2), said("c", NEW)], {}, "exact_duplicate"),
        ([said("a", f"{OLD}{FENCED}"), said("c", NEW)], {}, "contradicted:explicit_correction"),
        ([said("a", f"{PROSE}{PROSE}{FENCED}{SQL}")], {}, "code_split"),
        ([said("a", f"So:{FENCED * 8}")], {"preserve_patterns": ["SELECT"]}, "code_fence_no_prose"),
        ([said("a", SQL)], {"preserve_patterns": ["SELECT"]}, "hard_t0:sql_content"),
        ([said("a", PROSE)], {"preserve_patterns": ["Nobody", ("o", "o")]}, "pattern:o"),
    ],
)
def test_the_first_rule_that_fits_decides(
    messages: Conversation, options: dict[str, Any], reason: str
) -> None:
    chosen = {
        "contradiction_detection": True,
        "importance_scoring": "importance_threshold" in options,
        **options,
    }
    assert fold(messages, **chosen).decisions[0].reason.startswith(reason)


def test_our_own_stand_ins_are_left_alone() -> None:
    store = MemoryStore()
    once = fold([said("a", PROSE * 3)], store=store)
    again = compress(once.messages, recency_window=0, trace=True, store=store)
    assert again.messages == once.messages
    assert again.decisions[0].reason == "already_compressed"


def test_provenance_on_a_text_that_is_no_stand_in_protects_nothing() -> None:
    behind = {"ids": ["q"], "summary_id": "cce_sum_zz", "version": 0}
    messages = [said("a", PROSE * 2, metadata={"k": 1, "_cce_original": behind})]
    result = compress(messages, recency_window=0, trace=True)
    assert result.decisions[0].reason == "compressible_prose"
    metadata = result.messages[0]["metadata"]
    assert metadata["k"] == 1
    assert metadata["_cce_original"]["parent_ids"] == ["cce_sum_zz"]
    assert uncompress(result.messages, result.verbatim).messages == messages


@pytest.mark.parametrize(
    ("chars", "verdict"),
    [(79, ("preserved", "code_fence_no_prose")), (80, ("preserved", "code_split_reverted"))],
)
def test_code_is_split_off_from_80_characters_of_prose_on(
    chars: int, verdict: tuple[str, str]
) -> None:
    prose = PROSE[: chars - 4].rstrip().ljust(chars - 4, "x")
    assert verdicts([said("a", f"{prose}\n```\n{'x = 1' * 20}\n```\nDone")]) == [verdict]


# copies


def copies(*roles: str) -> Conversation:
    """Say the same text several times, with something short between."""
    messages: Conversation = []
    for number, role in enumerate(roles):
        messages.append(said(f"m{number}", LINES, role))
        messages.append(said(f"s{number}", "ok", "assistant" if role == "user" else "user"))
    return messages


def test_the_latest_copy_stays() -> None:
    result = fold(copies("user", "user", "user"))
    texts = shown(result)
    assert texts["m0"] == texts["m1"] == f"[cce:dup of m2 — {len(LINES)} chars]"
    assert texts["m2"] == LINES
    assert result.compression.messages_deduped == 2


def test_the_first_copy_inside_the_window_stays() -> None:
    texts = shown(fold(copies("user", "user", "user"), recency_window=4))
    assert texts["m0"] == f"[cce:dup of m1 — {len(LINES)} chars]"
    assert texts["m1"] == texts["m2"] == LINES


def test_keep_first_refers_back_to_what_stays_anyway() -> None:
    record = json.dumps([{"id": n, "name": f"row {n}"} for n in range(12)])
    messages = [said("a", record), said("b", "ok", "assistant"), said("c", record)]
    texts = shown(fold(messages, keep_duplicate="first"))
    assert texts["a"] == record
    assert texts["c"] == f"[cce:dup of a — {len(record)} chars]"


def test_a_user_is_never_replaced_by_somebody_else() -> None:
    result = fold(copies("user", "assistant"))
    assert result.compression.messages_deduped == 0
    assert fold(copies("tool", "assistant")).compression.messages_deduped == 1


@pytest.mark.parametrize(("chars", "deduped"), [(199, 0), (200, 1)])
def test_copies_of_200_characters_are_long_enough(chars: int, deduped: int) -> None:
    text = LINES[:chars]
    messages = [said("a", text), said("b", "ok", "assistant"), said("c", text)]
    assert fold(messages).compression.messages_deduped == deduped


def test_switched_off_copies_stay() -> None:
    assert fold(copies("user", "user"), dedup=False).compression.messages_deduped == 0


def test_a_long_id_that_saves_nothing_is_not_used() -> None:
    messages = [said("a", LINES[:210]), said("b", "ok", "assistant"), said("x" * 300, LINES[:210])]
    result = fold(messages)
    assert result.compression.messages_deduped == 0
    assert result.tokens_after <= result.tokens_before


# near copies


def near() -> Conversation:
    return [
        said("a", LINES),
        said("b", "ok", "assistant"),
        said("c", LINES.replace("pier 7 was", "pier 7 was NOT")),
    ]


def test_a_near_copy_shows_the_changed_lines() -> None:
    result = fold(near(), fuzzy_dedup=True, fuzzy_threshold=0.8)
    text = shown(result)["a"]
    assert text.startswith(f"[cce:near-dup of c — {len(LINES)} chars, ~85% match]\n")
    assert text.split("\n")[1:] == ["The lamp at pier 7 was checked by the night crew."]
    assert shown(result)["c"] == near()[2]["content"]
    assert result.compression.messages_fuzzy_deduped == 1


def test_near_copies_are_off_by_default_and_below_the_threshold() -> None:
    assert fold(near()).compression.messages_fuzzy_deduped == 0
    result = fold(near(), fuzzy_dedup=True, fuzzy_threshold=0.9)
    assert result.compression.messages_fuzzy_deduped == 0


def test_an_exact_copy_is_not_a_near_copy() -> None:
    result = fold(copies("user", "user"), fuzzy_dedup=True)
    assert result.compression.messages_deduped == 1
    assert result.compression.messages_fuzzy_deduped == 0


# corrections


def test_a_corrected_statement_is_shortened_and_the_correction_kept() -> None:
    messages = [said("old", OLD), said("mid", "ok", "assistant"), said("new", NEW)]
    result = fold(messages, contradiction_detection=True)
    assert shown(result)["old"].startswith("[cce:superseded by new (explicit_correction) — ") or (
        shown(result)["old"] == "[cce:superseded by new — explicit_correction]"
    )
    assert shown(result)["new"] == NEW
    assert [entry.reason for entry in result.decisions] == [
        "contradicted:explicit_correction",
        "short_content",
        "corrects:old",
    ]
    assert result.compression.messages_contradicted == 1


def test_a_message_does_not_refer_to_itself() -> None:
    parts = [{"type": "text", "text": OLD}, {"type": "text", "text": NEW}]
    messages = [{"id": "one", "role": "user", "content": parts}, said("end", "ok", "assistant")]
    assert fold(messages, contradiction_detection=True).compression.messages_contradicted == 0


def test_corrections_are_off_by_default() -> None:
    messages = [said("old", OLD), said("mid", "ok", "assistant"), said("new", NEW)]
    assert fold(messages).compression.messages_contradicted == 0


@pytest.mark.parametrize(
    "new",
    [
        "The search should ignore upper and lower case in the red boat's name for the winter. " * 2,
        "Actually, the kitchen needs a new kettle and somebody should order some milk today. " * 2,
        "The red boat is in the north shed for the winter season, as was said before. " * 2,
    ],
)
def test_what_corrects_nothing(new: str) -> None:
    messages = [said("old", OLD), said("mid", "ok", "assistant"), said("new", new)]
    assert fold(messages, contradiction_detection=True).compression.messages_contradicted == 0


# importance


def test_what_later_messages_build_on_is_kept() -> None:
    important = f"We decided to use getTide instead of the old gauge. {PROSE}"
    messages = [
        said("a", important),
        *(said(f"n{n}", f"Then getTide step {n}.", "assistant") for n in range(5)),
        said("z", PROSE),
    ]
    result = fold(messages, importance_scoring=True)
    assert result.decisions[0].reason.startswith("importance:0.")
    assert shown(result)["a"] == important
    assert result.decisions[-1].action == "compressed"
    assert result.compression.messages_importance_preserved == 1
    assert fold(messages).compression.messages_importance_preserved == 0


# large messages


def test_a_large_message_loses_the_protection_of_recency() -> None:
    [(action, _)] = verdicts([said("a", PROSE * 8)], recency_window=4, observation_threshold=100)
    assert action == "compressed"
    [(action, reason)] = verdicts([said("a", PROSE)], recency_window=4, observation_threshold=999)
    assert (action, reason) == ("preserved", "recency_window")


# what costs more


@pytest.mark.parametrize(
    ("messages", "options", "reason"),
    [
        ([said("a", PROSE * 2)], {}, "single_reverted"),
        ([said("a", PROSE * 2), said("b", f"{PROSE} Then it rained.")], {}, "single_reverted"),
        ([said("a", f"{PROSE * 2}\n```\nx\n```")], {}, "code_split_reverted"),
        ([said("a", LINES), said("b", "ok"), said("c", LINES)], {}, "deduped_reverted"),
        (
            [said("a", LINES), said("b", "ok"), said("c", f"{LINES}\nAnd the gate.")],
            {"fuzzy_dedup": True},
            "fuzzy_deduped_reverted",
        ),
        (
            [
                said("a", "Paint the fence of the harbour office green. " * 5),
                said("b", "ok", "assistant"),
                said("c", "Actually, paint the fence of the harbour office blue, please."),
            ],
            {"contradiction_detection": True},
            "contradiction_reverted",
        ),
    ],
)
def test_what_is_shorter_but_costs_more_tokens_is_not_used(
    messages: Conversation, options: dict[str, Any], reason: str
) -> None:
    def hates_tags(text: str) -> int:
        return len(text.split()) + 1_000 * ("[summary: " in text or "[cce:" in text)

    assert fold(messages, **options).messages != messages
    result = fold(messages, counter=hates_tags, **options)
    assert result.messages == messages
    assert result.decisions[0].reason == reason
    assert result.tokens_saved == 0


# merging


def test_neighbours_of_one_role_become_one_summary() -> None:
    messages = [said("a", PROSE), said("b", SENTENCES[2] * 3), said("c", PROSE[::-1])]
    result = fold(messages)
    assert len(result.messages) == 1
    assert "(3 messages merged)" in result.messages[0]["content"]
    assert result.messages[0]["metadata"]["_cce_original"]["ids"] == ["a", "b", "c"]
    assert {entry.reason for entry in result.decisions} == {"merged_compressed"}


@pytest.mark.parametrize(
    "messages",
    [
        [said("a", PROSE), said("b", LINES, "assistant")],
        [said("a", PROSE, name="ana"), said("b", LINES, name="ben")],
        [said("a", PROSE, name="ana"), said("b", LINES)],
        [said("a", PROSE, "tool"), said("b", LINES, "tool")],
        [
            said("a", PROSE, "tool", tool_call_id="1"),
            said("b", LINES, "tool", tool_call_id="2"),
        ],
        [said("a", PROSE), said("s", "short"), said("b", LINES)],
        [said("a", PROSE), said("b", f"{PROSE}\n```\nx\n```")],
    ],
)
def test_what_never_merges(messages: Conversation) -> None:
    result = fold(messages)
    assert len(result.messages) == len(messages)
    assert [m["id"] for m in result.messages] == [m["id"] for m in messages]


def test_same_names_merge() -> None:
    messages = [said("a", PROSE, name="ana"), said("b", LINES, name="ana")]
    [merged] = fold(messages).messages
    assert merged["name"] == "ana"


def test_tool_results_in_one_message_stay_apart() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": id_, "content": f"{id_}: {PROSE}"} for id_ in "ab"
    ]
    messages: Conversation = [{"id": "m", "role": "user", "content": blocks}]
    [message] = fold(messages).messages
    assert [block["tool_use_id"] for block in message["content"]] == ["a", "b"]
    assert all(block["content"].startswith("[summary: ") for block in message["content"])


# tags


def test_a_summary_with_its_id() -> None:
    [message] = fold([said("a", PROSE * 2)], embed_summary_id=True).messages
    summary_id = message["metadata"]["_cce_original"]["summary_id"]
    assert message["content"].startswith(f"[summary#{summary_id}: ")
    assert message["content"].endswith("]")


def test_a_message_without_envelope_gets_a_handle() -> None:
    messages = [{"role": "user", "content": PROSE * 2}]
    [message] = fold(messages).messages
    assert set(message) == {"role", "content"}
    assert message["content"].startswith("[summary: ")


def test_the_version_travels_along() -> None:
    message = said("a", PROSE * 2, metadata={"k": 1})
    [folded] = fold([message], source_version=5).messages
    assert folded["metadata"]["k"] == 1
    assert folded["metadata"]["_cce_original"]["version"] == 5


# what is named beside a summary


def listed(text: str) -> list[str]:
    result = fold([said("m", text)])
    return shown(result)["m"].rpartition(" | entities: ")[2].rstrip("]").split(", ")


def test_names_that_the_summary_lost_come_first_and_fill_the_list() -> None:
    steps = [
        f"Then computeStep{n}Alpha went on for a while in the yard by the pier."
        for n in "ABCDEFGHIJKL"
    ]
    names = listed(" ".join(steps))
    body = shown(fold([said("m", " ".join(steps))]))["m"].partition(" | entities: ")[0]
    assert len(names) == entity_cap(len(" ".join(steps)))
    assert not any(name in body for name in names)


def test_other_findings_are_listed_where_there_are_too_few_names() -> None:
    crews = "one two three four five six seven eight nine ten".split()
    looks = [f"The night crew looked at lamp number {n} on the pier until dawn." for n in crews]
    text = " ".join([*looks, "Write to harbour@example.org then."])
    assert "harbour@example.org" in listed(text)


# what an earlier round refers to


_PLAN = "For the session cache we use Redis with three replicas and a ttl of one hour. "
_CORRECTION = "Actually, use Memcached for the session cache, not Redis with three replicas. "


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize(
    ("earlier", "target", "options"),
    [
        (PROSE, PROSE, {}),
        (LINES, LINES + "\nTwice.", {"fuzzy_dedup": True}),
        (_PLAN * 4, _CORRECTION * 3, {"contradiction_detection": True}),
    ],
)
def test_what_an_earlier_round_refers_to_stays_readable(
    earlier: str, target: str, options: dict[str, Any], has_ids: bool
) -> None:
    other = [SENTENCES[3] * 3, SENTENCES[4] * 3, "ok", earlier, "ok", target, "ok"]
    messages: Conversation = [{"role": "user", "content": text} for text in other]
    if has_ids:
        messages = [{"id": f"m {n}", **message} for n, message in enumerate(messages)]
    store = MemoryStore()
    shown = messages
    for window in (2, 0, 0):  # the target is one of the latest messages, and then it is not
        shown = compress(shown, store=store, recency_window=window, **options).messages
        assert any(message["content"].startswith("[cce:") for message in shown)
        assert target in [message["content"] for message in shown]
    assert uncompress(shown, store).messages == messages


def test_words_of_an_identifier_are_no_common_topic() -> None:
    """`pool_size_limit` and `size_pool` are two things, though they are spelled alike."""
    said = (
        "Please keep pool_size_limit, queue_depth_max and retry_wait_sum as they are on the "
        "harbour server until the migration is over, and tell the crew before the shift begins."
    )
    because = "must be lowered, because those values made every worker stall in the morning."
    others = "Actually, no, change that: size_pool, depth_queue, wait_retry, limit_sum"
    same = "Actually, no, change that: pool_size_limit, queue_depth_max and retry_wait_sum"
    for correction, stays in ((others, True), (same, False)):
        contents = (said, f"{correction} {because}", "Go on.")
        messages = [{"role": "user", "content": content} for content in contents]
        result = compress(messages, contradiction_detection=True, recency_window=0)
        assert (result.messages[0]["content"] == said) is stays
