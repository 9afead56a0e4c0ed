"""Keep structure word for word: code, detected data, the caller's patterns, JSON."""

from __future__ import annotations

from collections.abc import Iterator

from refold.plan.draft import Draft, Keep, RunContext, Segment, SplitCode, Summarize, Verdict
from refold.plan.shorten import SummaryRules
from refold.scan.structure import has_fence, is_json, iter_stretches


def split_code(draft: Draft, context: RunContext) -> Iterator[Verdict]:
    """Split texts with fenced code; keep them whole if there is hardly any prose."""
    for segment in draft.undecided():
        if has_fence(segment.text):
            if has_prose(segment.text, context.text_cache.rules):
                yield segment, SplitCode(), "code_split"
            else:
                yield segment, Keep(), "code_fence_no_prose"


def has_prose(text: str, rules: SummaryRules) -> bool:
    """Tell whether there is enough prose around the fenced code of *text* to shorten."""
    length = 0
    for start, end, is_code in iter_stretches(text):
        if not is_code:
            length += rules.measure(text[start:end].strip())
            if length >= rules.least_prose:
                return True
    return False


def is_kept_by_content(segment: Segment, context: RunContext) -> bool:
    """Tell whether *segment* is kept for its content, regardless of the other texts."""
    text = segment.text
    if context.is_large(segment.message):
        return is_json(text)
    if has_fence(text):
        return not has_prose(text, context.text_cache.rules)
    return bool(context.text_cache.findings(text).hard) or is_json(text)


def keep_structure(draft: Draft, context: RunContext) -> Iterator[Verdict]:
    """Keep texts with hard findings of detectors, unless a classifier decides alone."""
    if context.leaves_all_to_classifier:
        return
    for segment in draft.undecided():
        hard = context.text_cache.findings(segment.text).hard
        if hard and not context.is_large(segment.message):
            yield segment, Keep(), f"hard_t0:{','.join(hard)}"


def keep_matching(draft: Draft, context: RunContext) -> Iterator[Verdict]:
    """Keep texts that match one of the caller's patterns."""
    patterns = context.options.preserve_patterns
    for segment in draft.undecided() if patterns else ():
        found = next((e for e in patterns if e.pattern.search(segment.text)), None)
        if found is not None:
            yield segment, Keep(), f"pattern:{found.label}"


def keep_judged(draft: Draft, context: RunContext) -> Iterator[Verdict]:
    """Keep texts that a classifier judged worth keeping."""
    for segment in draft.undecided() if context.text_cache.may_judge else ():
        judgement = context.text_cache.judgement(segment.text)
        if judgement is not None and judgement.decision == "preserve":
            yield segment, Keep(), f"llm_preserved:{judgement.reason}"
        elif judgement is None and context.leaves_all_to_classifier:
            # A classifier that decides alone but fails must not leave structure unprotected.
            hard = context.text_cache.findings(segment.text).hard
            if hard:
                yield segment, Keep(), f"hard_t0:{','.join(hard)}"


def keep_json(draft: Draft, _: RunContext) -> Iterator[Verdict]:
    """Keep texts that are valid JSON."""
    for segment in draft.undecided():
        if is_json(segment.text):  # even if it is large: half of it would not be JSON
            yield segment, Keep(), "json_structure"


def summarize_rest(draft: Draft, _: RunContext) -> Iterator[Verdict]:
    """Summarize everything that no rule keeps."""
    for segment in draft.undecided():
        yield segment, Summarize(), "compressible_prose"
