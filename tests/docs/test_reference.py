"""The committed reference is what the code says today."""

from __future__ import annotations

from tests.docs.scripts import DOCS, load_script


def test_reference_is_up_to_date() -> None:
    committed = (DOCS / "reference.md").read_text(encoding="utf-8")
    made = load_script("make_reference").make_reference()
    assert committed == made, "run: python docs/make_reference.py"
