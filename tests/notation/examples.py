"""One of each: every stand-in that refold writes, around the same words.

What is folded may itself be a view, or quote one. Tests and benches build such texts from these,
so that a new form is tried as soon as it is here.
"""

from __future__ import annotations

from refold.notation import marks, notes
from refold.notation.spelling import CLASSIC, PLAIN, Beginning, Copy, Correction, Summary


def plain_marks(body: str, handle: str) -> list[str]:
    """Return every mark of the profiles that write plain words."""
    return [
        marks.excerpt(body, handle),
        marks.excerpt("", handle),
        marks.digest("", 24, handle),
        marks.digest(body, 240, handle),
        marks.digest(body, 1, handle),
        PLAIN.summary(Summary(body), handle),
        PLAIN.summary(Summary(body, merged=3, entities=("billing", "30 days")), handle),
        PLAIN.beginning(Beginning(body, 9_000), handle),
        marks.reformatted(body, handle),
        marks.same_result("read_file path=a.py", handle),
        marks.same_result("", handle),
        PLAIN.copy(Copy("m3", 512, is_below=True), handle),
        PLAIN.copy(Copy("m3", 512, is_below=False, similarity=0.93, lines=[body]), handle),
        PLAIN.correction(Correction("m3", "retraction", is_below=True, text=body), handle),
        marks.media("image", "image/png, 3000 bytes", handle),
    ]


def tool_notes(body: str, handle: str) -> list[str]:
    """Return every note that stands behind the result of a tool, or inside its JSON."""
    said = notes.note(notes.shortened_from(1_100, "tokens"), handle)
    return [
        notes.annotate(body, said),
        notes.annotate(f"{body}\n{body}", notes.note(notes.summarized_from(80, "bytes"), handle)),
        notes.annotate(body, notes.note("", handle)),
        notes.annotate_json('{"status": "open"}', said),
        notes.annotate_json('["open"]', said),
        f"{body}{notes.kept_facts(('billing', '30 days'))}",
    ]


def classic_tags(body: str, handle: str) -> list[str]:
    """Return every tag of the contract, with a handle."""
    return [
        CLASSIC.summary(Summary(body), handle),
        CLASSIC.summary(Summary(body, merged=3, entities=("billing", "30 days")), handle),
        CLASSIC.summary(Summary(body, summary_id="cce_sum_kdbfqamtqxzj"), ""),
        CLASSIC.only_count(24, handle),
        CLASSIC.copy(Copy("m3-0a1b2c3d", 512, is_below=True), handle),
        CLASSIC.copy(Copy("m3-0a1b2c3d", 512, is_below=True, similarity=0.93), handle),
        CLASSIC.correction(Correction("m3-0a1b2c3d", "retraction", True, body), handle),
        CLASSIC.correction(Correction("m3-0a1b2c3d", "retraction", True), handle),
        CLASSIC.beginning(Beginning(body, 9_000), handle),
    ]


def gap_marks() -> list[str]:
    """Return every way to say that something is left out between pieces."""
    sizes = (
        "1 line",
        "37 lines",
        "300 lines",
        "2400 words",
    )
    return [
        marks.GAP,
        f" {marks.GAP}\n",
        *map(marks.gap, sizes),
        marks.more(5, "item"),
    ]
