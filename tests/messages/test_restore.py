"""How stand-ins are told from other messages, and what is said of those that nobody knows."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest

import refold
from refold import ConfigError, MemoryStore, StoreError, uncompress
from refold.messages.manifest import Behind, Trail, ViewRow, read_wording, write_view
from tests.classic import compress
from tests.notation import examples

TAGS = (
    *examples.classic_tags("The lamp was lit.", ""),
    *examples.plain_marks("The lamp was lit.", "kdbfqamt"),
    *examples.tool_notes("The lamp was lit.", "kdbfqamt")[:-1],
)


def looks_folded(message: dict[str, Any]) -> bool:
    return read_wording(message).is_marked


@pytest.mark.parametrize("tag", TAGS)
def test_every_tag_is_known_wherever_it_stands(tag: str) -> None:
    assert looks_folded({"role": "user", "content": tag})
    assert looks_folded({"role": "user", "content": f"Before it.\n{tag}"})
    assert looks_folded({"role": "user", "content": [{"type": "text", "text": tag}]})


@pytest.mark.parametrize(
    "text",
    [
        "[…] he said",
        "[...]",
        "[1]",
        "[sum]",
        "a […12 of them]",
        "…12%",
        "[see #incident]",
        "[12% shown]",
        "[shortened]",
        "[shortened version: #]",
    ],
)
def test_what_people_write_in_brackets_is_no_tag(text: str) -> None:
    assert not looks_folded({"role": "user", "content": text})


@pytest.mark.parametrize("profile", ["classic", "standard"])
def test_a_stand_in_without_its_originals_is_counted(profile: str) -> None:
    said = " ".join(f"The night crew looked at lamp {n} until dawn." for n in range(60))
    messages = [{"role": "assistant", "content": said}, {"role": "user", "content": "And […]?"}]
    result = compress(
        messages, profile=profile, recency_window=0, token_budget=120, min_recency_window=0
    )
    assert uncompress(result.messages, result.verbatim).messages_unknown == 0
    unknown = uncompress(result.messages, {})
    assert unknown.messages_unknown == 1
    assert list(unknown.messages) == result.messages


def bomb(levels: int, width: int) -> dict[str, Any]:
    """A few records, each of which names the one below it many times."""
    verbatim: dict[str, Any] = {"m0": {"role": "user", "content": "boom"}}
    for level in range(1, levels + 1):
        fold = {"ids": [f"m{level - 1}"] * width, "summary_id": f"s{level}", "version": 0}
        message = {"role": "user", "content": "[summary: boom]"}
        verbatim[f"m{level}"] = {**message, "metadata": {"_cce_original": fold}}
    return verbatim


def test_a_few_records_do_not_unfold_to_a_million_messages() -> None:
    verbatim = bomb(6, 10)
    assert len(json.dumps(verbatim)) < 2_000
    with pytest.raises(StoreError, match=r"more than \d{4} messages.*max_messages="):
        uncompress([verbatim["m6"]], verbatim, accept_foreign=True)
    assert len(uncompress([verbatim["m3"]], verbatim, accept_foreign=True).messages) == 1_000


def test_records_that_name_what_is_missing_over_and_over_come_to_an_end() -> None:
    behind, records = Behind.made(["0" * 40], ["m1"]), dict[str, str]()
    for _ in range(40):
        records[behind.fold] = behind.to_record()
        behind = Behind.made([behind.fold] * 10, ["m1"] * 10)
    message = {"role": "user", "content": "[10 messages #kdbfq]"}
    rows = [ViewRow(read_wording(message), behind, is_new=True)]
    records |= write_view(Trail.named(None), rows)[0]
    with pytest.raises(StoreError, match=r"more than \d+ messages.*max_messages="):
        uncompress([message], records)


def test_how_much_may_unfold_can_be_said() -> None:
    verbatim = bomb(3, 10)
    with pytest.raises(StoreError, match="more than 999 messages"):
        uncompress([verbatim["m3"]], verbatim, max_messages=999, accept_foreign=True)
    back = uncompress([verbatim["m3"]], verbatim, max_messages=1_000, accept_foreign=True)
    assert len(back.messages) == 1_000
    with pytest.raises(ConfigError, match="max_messages"):
        uncompress([], {}, max_messages=-1)


def test_equal_messages_that_share_a_record_are_no_bomb() -> None:
    said = {"role": "assistant", "content": " ".join(f"Lamp {n} is lit." for n in range(80))}
    messages = [said] * 500
    result = compress(messages, recency_window=0, dedup=False)
    assert uncompress(result.messages, result.verbatim).messages == messages


def test_a_record_that_names_itself_ends() -> None:
    fold = {"ids": ["a"], "summary_id": "s", "version": 0}
    loop = {"role": "user", "content": "[summary: x]", "metadata": {"_cce_original": fold}}
    result = uncompress([loop], {"a": loop}, accept_foreign=True)
    assert result.messages == [loop]
    assert result.missing_ids == ["a"]


@pytest.mark.parametrize("profile", ["classic", "standard"])
def test_links_in_memory_are_texts_that_no_garbage_collector_looks_at(profile: str) -> None:
    messages = [
        {"role": ("user", "assistant")[n % 2], "content": f"{n}. " + "The lamp was lit. " * 60}
        for n in range(20)
    ]
    result = compress(messages, profile=profile, token_budget=900)
    links = [value for key, value in result.verbatim.items() if key.startswith("refold:")]
    assert links
    assert not any(map(gc.is_tracked, links))
    known = json.loads(json.dumps(result.verbatim))
    assert uncompress(result.messages, known).messages == messages


@pytest.mark.parametrize("profile", ["classic", "standard"])
def test_a_store_that_has_nothing_of_it_says_what_is_missing(profile: Any) -> None:
    text = "The gardener counted the pots behind the long wall again and found them all. " * 8
    messages = [
        {
            "role": ("user", "assistant")[number % 2],
            "content": f"{number} {text}",
            "id": f"a{number}",
        }
        for number in range(8)
    ]
    result = refold.compress(messages, store=MemoryStore(), profile=profile, token_budget=400)
    folded = [n for n, message in enumerate(result.messages) if message not in messages]
    back = uncompress(result.messages, MemoryStore())
    assert back.unknown == tuple(folded)
    assert not back.complete
    assert "complete=False" in repr(back)
    with pytest.raises(StoreError, match=r"not everything can be restored.*another store"):
        uncompress(result.messages, MemoryStore(), strict=True)
    assert uncompress(result, strict=True).messages == messages
