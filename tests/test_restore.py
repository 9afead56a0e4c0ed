"""How stand-ins are told from other messages, and what is said of those that nobody knows."""

from __future__ import annotations

import pytest

from refold import compress, uncompress
from refold.restore import looks_folded
from refold.stages import tags

TAGS = (
    tags.summary_tag("The lamp was lit."),
    tags.summary_tag("The lamp was lit.", summary_id="cce_sum_kdbfqa"),
    tags.duplicate_tag("m1", 400),
    tags.near_duplicate_tag("m1", 400, 0.9),
    tags.superseded_tag("m1", "retraction"),
    tags.truncated_tag("The lamp", 400),
    tags.recoded_tag("a|b", "kdbfqa"),
    *(tags.part_tag("The lamp", percent, "kdbfqa") for percent in (0, 9, 99)),
    tags.part_tag("The lamp", 0, "kdbfqa", errors=3),
)


@pytest.mark.parametrize("tag", TAGS)
def test_every_tag_is_known_wherever_it_stands(tag: str) -> None:
    assert looks_folded({"role": "user", "content": tag})
    assert looks_folded({"role": "user", "content": f"Before it.\n{tag}"})
    assert looks_folded({"role": "user", "content": [{"type": "text", "text": tag}]})


@pytest.mark.parametrize(
    "text", ["[…] he said", "[...]", "[1]", "[sum]", "a […12 of them]", "…12%"]
)
def test_what_people_write_in_brackets_is_no_tag(text: str) -> None:
    assert not looks_folded({"role": "user", "content": text})


@pytest.mark.parametrize("profile", ["balanced", "agent"])
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
