"""Keep structure word for word: fenced code, detected data, the caller's patterns, JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.model.decision import Keep, SplitCode, Summarize
from refold.model.draft import Draft, Verdict
from refold.stages.base import Setting
from refold.text.fences import has_fence, split_fences
from refold.text.json_text import is_json

MIN_PROSE_CHARS: Final = 80


def split_code(draft: Draft, _: Setting) -> Iterator[Verdict]:
    """Split texts with fenced code; keep them whole when there is hardly any prose."""
    for segment in draft.undecided():
        if has_fence(segment.text):
            if prose_chars(segment.text) >= MIN_PROSE_CHARS:
                yield segment, SplitCode(), "code_split"
            else:
                yield segment, Keep(), "code_fence_no_prose"


def prose_chars(text: str) -> int:
    """Count the characters of prose around the fenced code of *text*."""
    return sum(len(text[s.start : s.end].strip()) for s in split_fences(text) if not s.is_code)


def keep_structure(draft: Draft, setting: Setting) -> Iterator[Verdict]:
    """Keep texts in which a detector sees structure, a pattern matches, or that are JSON."""
    for segment in draft.undecided():
        is_large = setting.is_large(segment.message)
        hard = () if is_large else setting.analyses.findings(segment.text).hard
        if hard:
            yield segment, Keep(), f"hard_t0:{','.join(hard)}"
            continue
        label = _matching_label(segment.text, setting)
        if label is not None:
            yield segment, Keep(), f"pattern:{label}"
        elif not is_large and is_json(segment.text):
            yield segment, Keep(), "json_structure"


def _matching_label(text: str, setting: Setting) -> str | None:
    for entry in setting.options.preserve_patterns:
        if entry.pattern.search(text):
            return entry.label
    return None


def summarize_rest(draft: Draft, _: Setting) -> Iterator[Verdict]:
    """Summarize whatever nobody had a reason to keep."""
    for segment in draft.undecided():
        yield segment, Summarize(), "compressible_prose"
