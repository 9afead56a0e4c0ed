"""A text is re-encoded once by the same codecs, until it or its count no longer holds."""

from __future__ import annotations

import json

from refold.codecs import TABLE, CachedCodecTable
from refold.scan.tokens.estimate import estimate_tokens

ROWS = json.dumps([{"page": n, "berth": "north", "is_open": True} for n in range(40)], indent=2)


def test_a_text_is_reencoded_once_by_the_same_codecs() -> None:
    table = CachedCodecTable(TABLE)
    first = table.reencode(ROWS, estimate_tokens)
    assert first is not None
    assert first == TABLE.reencode(ROWS, estimate_tokens)
    assert table.reencode(ROWS, estimate_tokens) is first
    in_parts = table.reencode(ROWS, estimate_tokens, table.in_parts)
    assert in_parts is not first
    assert in_parts == TABLE.reencode(ROWS, estimate_tokens, TABLE.in_parts)


def test_a_new_form_is_forgotten_with_its_text_and_with_the_counts() -> None:
    table = CachedCodecTable(TABLE)
    first = table.reencode(ROWS, estimate_tokens)
    table.keep_only(frozenset({ROWS}))
    assert table.reencode(ROWS, estimate_tokens) is first
    table.keep_only(frozenset())
    second = table.reencode(ROWS, estimate_tokens)
    assert second == first
    assert second is not first
    table.forget()
    assert table.reencode(ROWS, estimate_tokens) is not second
