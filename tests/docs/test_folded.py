"""The folded runs in the docs are what refold makes of them today."""

from __future__ import annotations

from tests.docs.scripts import DOCS, load_script


def test_folded_runs_are_up_to_date() -> None:
    committed = (DOCS / "folded.md").read_text(encoding="utf-8")
    assert committed == load_script("make_folded").make_page(), "run: python docs/make_folded.py"


def test_so_is_their_picture() -> None:
    committed = (DOCS / "images" / "before-after.svg").read_text(encoding="utf-8")
    assert committed == load_script("make_folded").make_picture(), "run: python docs/make_folded.py"
