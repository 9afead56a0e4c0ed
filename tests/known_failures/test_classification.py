"""Known failures 16–19: English taken for code, code taken for prose, protection by accident.

Not applicable: the conversation flow of entry 19 (there is none).
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from refold import MemoryStore, classify, uncompress
from tests.classic import compress
from tests.conversations import all_text

DULL = (
    "The meeting room on the second floor was booked again by the people from the other building. "
    "Nobody minded very much, as the weather was fine and the benches in the yard were still dry. "
)
LINES = DULL.strip().replace(". ", ".\n")

PROSE = {
    "prices": f"{DULL}The small lamp costs $5 in the shop and the large one costs $12 online.",
    "arrow": f"{DULL}The path goes from the gate → the yard → the kitchen and back again.",
    "size": f"{DULL}The poster in the hall is 300×250 millimetres and hangs a little too low.",
    "returning": f"{DULL}Most returning customers come from the villages along the northern road.",
    "constraint": f"{DULL}The main constraint was the width of the door, as with the old piano.",
    "cascade": f"{DULL}One late bus may cascade into a whole afternoon of missed connections.",
    "order": f"{DULL}For the garden we order by mail and pick the parcels up at the station.",
    "ordinals": f"{DULL}First we had soup. Second came the fish. Third was a very small cake.",
    "path": f"{DULL}It moved to src/components/dashboard/widgets/charts/LineChart last week.",
    "analysis": f"{DULL}\nAnalysis: people like the yard better than the room on dry days.",
    "agenda": f"{LINES}\n\nWelcome And Coffee\nReport Of The Chair\nParty\nAny Other Business",
    "minutes": f"{LINES}\n\nChair: Anna\nScribe: Tom\n\nThe yard was quiet for most of the day.",
    "street": f"{DULL}She wrote down the delivery status 404 main street on the back of a card.",
}


@pytest.mark.parametrize("name", PROSE)
def test_kf_16_prose_is_not_structure(name: str) -> None:
    text = PROSE[name]
    result = compress([{"role": "user", "content": text}], recency_window=0, trace=True)
    assert result.decisions[0].reason in (
        "compressible_prose",
        "single_reverted",
        "anchor_reverted",
    )
    assert "hard_t0" not in result.decisions[0].reason


ANSWERS = (
    "When the parent goes away, the change may cascade from one table of the seating plan to the "
    "next. It is a little like dominoes: guests move from the front to the back. The host only "
    "has to say which of the families should stay together, and everything else follows from it.",
    "A schema of the garden hangs in the shed. The owners declare every spring what goes into "
    "which bed, and then nothing is planted into the wrong place. It takes an hour at most, and "
    "the neighbours come over to look at it and to take a few seedlings home with them.",
    "Water comes from the hills, where the river is still cold. The old pipes were set into the "
    "ground long before anyone lived here. From where you stand you can see the set of stones "
    "that marks the first of them, and the tower where the keeper used to read the levels.",
    "The choir takes its values from an older time. It likes to offset long pieces with short "
    "ones, and singers grow into their parts slowly. Visitors from abroad are often surprised by "
    "how quiet the hall becomes when the second part begins and the lamps are turned down.",
    "The schema is simple: where one bus leaves from, the next one arrives. Travellers who know "
    "where to stand can change within a minute. The plan has not been altered for years, and the "
    "drivers would be the first ones to complain if anybody tried to improve it once more.",
)


@pytest.mark.parametrize("number", range(len(ANSWERS)))
def test_kf_16_a_technical_explanation_is_prose(number: int) -> None:
    text = ANSWERS[number]
    assert "sql_content" not in classify(text).reasons
    result = compress([{"role": "assistant", "content": text}], recency_window=0)
    assert result.compression.ratio > 1.0


FUNCTION = "```python\ndef settle(ledger):\n    for entry in ledger:\n        entry.close()\n"


def test_kf_17_an_unclosed_fence_is_code_to_the_end() -> None:
    text = f"Here is the function you asked for. {DULL * 3}\n\n{FUNCTION}    return ledger"
    result = compress([{"role": "assistant", "content": text}], recency_window=0)
    shown = result.messages[0]["content"]
    assert f"{FUNCTION}    return ledger" in shown
    assert len(shown) < len(text)


@pytest.mark.parametrize("opening", ["```", "~~~", "````", "   ```js", "1. ```"])
def test_kf_17_any_kind_of_fence(opening: str) -> None:
    code = "\nvar total = rows.map(r => r.price);\nreport(total);"
    text = f"{DULL * 3}\n\n{opening}{code}"
    shown = compress([{"role": "user", "content": text}], recency_window=0).messages[0]["content"]
    assert f"{opening.rsplit(maxsplit=1)[-1]}{code}" in shown
    assert len(shown) < len(text)


@pytest.mark.parametrize("tag", ["[summary: ", "[summary#cce_sum_1: ", "[truncated — 9 chars: "])
def test_kf_18_a_tag_protects_nothing(tag: str) -> None:
    text = f"{tag}{DULL * 4}]"
    messages = [{"id": "a", "role": "user", "content": text}]
    store = MemoryStore()
    result = compress(messages, recency_window=0, store=store)
    assert len(result.messages[0]["content"]) < len(text)
    assert uncompress(result.messages, result.verbatim).messages == messages
    again = compress(result.messages, recency_window=0, trace=True, store=store)
    assert again.messages == result.messages


def test_kf_18_brackets_in_a_summary_do_no_harm() -> None:
    said = (
        "The list [a, b] must be kept] as it is [summary: no] (2 messages merged) | entities: x] "
    )
    messages = [
        {"role": "user", "content": (said + DULL) * 2},
        {"role": "user", "content": DULL * 3},
    ]
    result = compress(messages, recency_window=0)
    assert result.messages != messages
    assert uncompress(result.messages, result.verbatim).messages == messages


def test_kf_19_a_pattern_has_no_memory() -> None:
    pattern = re.compile(r"ticket [A-Z]+-\d+")
    messages: list[dict[str, Any]] = [
        {"role": "user" if n % 2 else "assistant", "content": f"{DULL}See ticket SHOP-{n} there."}
        for n in range(4)
    ]
    result = compress(messages, recency_window=0, preserve_patterns=[pattern], trace=True)
    assert result.messages == messages
    assert result.compression.messages_pattern_preserved == 4
    assert {entry.reason for entry in result.decisions} == {f"pattern:{pattern.pattern}"}


def test_kf_19_sql_is_protected_whatever_else_is_on() -> None:
    sql = "SELECT name, count(*) FROM orders WHERE paid = 1 GROUP BY name HAVING count(*) > 3 " * 2
    chosen: list[dict[str, Any]] = [
        {},
        {"importance_scoring": True},
        {"contradiction_detection": True},
    ]
    for options in chosen:
        result = compress([{"role": "user", "content": sql}], recency_window=0, **options)
        assert all_text(result.messages) == sql
