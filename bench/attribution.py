"""Name the reason of every difference between a recorded verdict and ours, by rule."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from refold.scan.structure import bag_of, jaccard, normal_lines
from replay import FITS, KEPT, OVER_BUDGET, Check, Verdict, replay_compress, replay_fits, text_of

Kind = Literal["known failure", "contract", "choice", "unexplained"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A named class of differences."""

    name: str
    kind: Kind
    description: str

    @property
    def is_asked_for(self) -> bool:
        """Whether the specification asks for this difference: then it does not count against us."""
        return self.kind in ("known failure", "contract")


def _failure(number: str, description: str) -> Cause:
    return Cause(name=f"known failure {number}", kind="known failure", description=description)


def _contract(section: str, description: str) -> Cause:
    return Cause(name=f"contract {section}", kind="contract", description=description)


def _choice(name: str, description: str) -> Cause:
    return Cause(name=name, kind="choice", description=description)


UNEXPLAINED: Final = Cause(
    name="unexplained", kind="unexplained", description="no rule names a reason"
)

_PARTIAL = _failure("7", "a stand-in stays until all of its originals are there")
_MISSING = _failure("9", "a missing id is reported once, and its stand-in counts once")
_ARGUMENTS = _failure("11", "tool-call arguments are counted")
_TOOL_MERGE = _failure("12", "two tool results never merge")
_NOT_STRUCTURE = _failure("16", "English that only looks like structure is not structure")
_OPEN_FENCE = _failure("17", "an unclosed fence is code to the end")
_SPOOF = _failure("18", "text that only looks compressed is ordinary text")
_FILLER = _failure("20", "a negation or an answer is not filler")
_SENTENCES = _failure(
    "21", "sentences do not end in 3.5 or config.json, but may end a line; % is a unit"
)
_EVERY_VOICE = _failure("22", "a merged summary covers each of its messages")
_ROLL_UP = _failure("27", "under a budget the oldest summaries share one roll-up")
_REWRITTEN = _failure("24", "a budget does not rewrite structure, code or tool calls")
_TARGET = _failure("25", "the target of a duplicate stays readable")
_SPEAKER = _failure("25", "a user's turn and that of another role never replace each other")
_CORRECTION = _failure("26", "a correction is kept; a bare 'ignore' retracts nothing")
_COUNTING = _failure("28", "tokens are estimated by kind of text, not characters ÷ 3.5")
_RECENT = _failure("30", "a budget leaves the recent messages and the question alone")
_GUARD = _failure("31", "references are guarded by size too")
_IDS = _failure("33", "summary ids are longer, so that they do not collide")
_LETTERS = _failure("34", "words may have letters beyond A to Z")
_INPUT = _contract("§1", "an id is optional but never empty; a role is required")
_ABSORBED = _contract("§2 rule 8", "a corrected statement is marked, never merged away")
_NEAR = _contract("§3", "near copies share lines; the first five need not be the same")
_NAMES = _contract("§3", "identifiers with digits or acronyms are identifiers")
_PROMISE = _contract("§6", "a budget is kept where theirs ends over budget")
_LADDER = _choice("ladder", "a budget is reached, or missed, by other steps")
_COMMA = _choice("comma", "a correcting word before a comma counts: 'Sorry, I meant'")
_IN_PLACE = _choice("code in place", "each stretch of prose around code is shortened on its own")
_QUOTES = _choice("JSON quotes", "text between two JSON strings is not a quotation")
_ADDRESSES = _choice("addresses", "punctuation after an address is not part of it")
_CASE = _choice("case", "an abbreviation keeps its capitals")
_DOTTED = _choice("dotted", "dotted numbers and short dotted words are read differently")

CAUSES: Final = (
    _PARTIAL, _MISSING, _ARGUMENTS, _TOOL_MERGE, _NOT_STRUCTURE, _OPEN_FENCE, _SPOOF, _FILLER,
    _SENTENCES, _EVERY_VOICE, _REWRITTEN, _TARGET, _SPEAKER, _CORRECTION, _ROLL_UP, _COUNTING,
    _RECENT, _GUARD, _IDS, _LETTERS, _INPUT, _ABSORBED, _NEAR, _NAMES, _PROMISE, _LADDER, _COMMA,
    _IN_PLACE, _QUOTES, _ADDRESSES, _CASE, _DOTTED, UNEXPLAINED,
)  # fmt: skip
"""Every class, in the order in which it is printed."""

_RESEMBLING: Final = re.compile(
    r"\$[^$\n]+\$|[→↔×÷±≈≤≥≠]"
    r"|\n(?:[A-Z][^\n.!?]*(?:\n|\Z)){3}"
    r"|^[\w-]+:\s+.+\n[\w-]+:\s"
    r"|\b(?i:returning|constraint|cascade|truncate|order by|group by|not null|integer|boolean)\b"
    r"|^\s*(?i:reasoning|analysis|conclusion|proof|derivation)\s*:"
    r"|[A-Za-z0-9+/]{40}"
    r"|\bstatus\W+[45]\d\d\b",
    re.M,
)
"""What context-compression-engine 1.5.0 takes for structure although it may be plain English."""
_SQL_WORD: Final = re.compile(
    r"\b(?i:select|from|where|join|insert|into|update|set|delete|create|alter|drop|merge|grant|"
    r"revoke|having|union|distinct|limit|offset|values|fetch|cursor|declare|procedure|trigger|"
    r"schema|view)\b"
)
_SEQUENCE_WORD: Final = re.compile(
    r"\b(?i:first(?:ly)?|second(?:ly)?|third(?:ly)?|therefore|hence|thus|consequently|accordingly|"
    r"as a result|given that|in conclusion|in summary|to summarize|this means that)\b"
)
_SOFTENED: Final = frozenset(
    {
        "latex_math", "unicode_math", "sql_content", "reasoning_chain", "base64_content",
        "verse_pattern", "yaml_structure", "http_error",
    }
)  # fmt: skip
"""The reasons that known failure 16 asks to give less easily."""
_NEGATED_FILLER: Final = re.compile(
    r"(?:\A|[.!?]\s+|\n)(?i:(?:yes|no)[,.!?\s]"
    r"|(?:great|sure|okay|ok|right|well|so|now|thanks|perfect|i would|i can|i'll|let me)[,\s]"
    r"[^.!?\n]*\b(?:not|no|never|without|\w+n['’]t)\b)"
)
_INNER_DOT: Final = re.compile(r"[.!?][^\s.!?]|\d%|\w\s*\n|[\w)]\s*\Z")
_COMMA_SIGNAL: Final = re.compile(r"\b(?i:wait|sorry|instead),\s")
_REVERTED: Final = "_reverted"

Rule = Callable[[Check], Cause | None]


def explain(check: Check) -> Cause:
    """Return the class that the difference in *check* belongs to."""
    for rule in _RULES.get(check.fn, ()):
        cause = rule(check)
        if cause is not None:
            return cause
    return UNEXPLAINED


def _explain_classify(check: Check) -> Cause | None:
    theirs = set(filter(None, (check.theirs.reason or "").split(",")))
    ours = set(filter(None, (check.ours.reason or "").split(",")))
    if theirs - ours and not ours - theirs:
        if theirs - ours <= _SOFTENED:
            return _NOT_STRUCTURE
        if theirs - ours == {"direct_quote"} and check.text.lstrip().startswith(("{", "[")):
            return _QUOTES
    return None


def _explain_sentences(check: Check) -> Cause | None:
    if check.fn == "bestSentenceScore" and re.match(r"(?i)(?:yes|no)[,.!?\s]", check.text):
        return _FILLER
    if _INNER_DOT.search(check.text):
        return _SENTENCES
    if check.fn == "bestSentenceScore" and _NEGATED_FILLER.search(check.text):
        return _FILLER
    return None


def _explain_entities(check: Check) -> Cause | None:
    text = check.text
    if re.search(r"[^\W\d_a-zA-Z]", text):
        return _LETTERS
    if re.search(r"\d\s?%", text):
        return _SENTENCES
    if re.search(r"https?://\S*[.,;:!?)](?:\s|$)", text):
        return _ADDRESSES
    if re.search(r"\b(?:[a-z]+\d*[A-Z]{2,}|[A-Z]{2,}[a-z]|[a-z]+\d[A-Z]|\w+_\d)", text):
        return _NAMES
    if re.search(r"\w\.\w", text):
        return _DOTTED
    if check.theirs.decision.lower() == check.ours.decision.lower() or re.search(r"[A-Z]{3}", text):
        return _CASE
    return None


def _explain_duplicates(check: Check) -> Cause | None:
    if _other_speaker_says_it(check, check.index):
        return _SPEAKER
    if check.fn == "analyzeFuzzyDuplicates" and check.theirs.decision == "left alone":
        return _NEAR
    for index, (theirs, ours) in enumerate(zip(check.all_theirs, check.all_ours, strict=True)):
        if theirs != ours and _alike(check, index, check.index):
            return _SPEAKER if _other_speaker_says_it(check, index) else None
    return None


def _other_speaker_says_it(check: Check, index: int) -> bool:
    """Tell whether a user and somebody else say (nearly) the same as message *index*."""
    messages = check.vector["args"][0]
    is_user = messages[index].get("role") == "user"
    return any(
        (other.get("role") == "user") != is_user and _alike(check, index, place)
        for place, other in enumerate(messages)
    )


def _alike(check: Check, a: int, b: int) -> bool:
    messages = check.vector["args"][0]
    bags = [bag_of(normal_lines(text_of(messages[place]))) for place in (a, b)]
    return bool(bags[0]) and jaccard(*bags) >= 0.5


def _explain_contradiction(check: Check) -> Cause | None:
    return _CORRECTION if "retraction" in (check.theirs.reason or "") else None


def _explain_importance(check: Check) -> Cause | None:
    return _COMMA if _COMMA_SIGNAL.search(check.text) else None


def _explain_uncompress(check: Check) -> Cause | None:
    messages, store, *_ = check.vector["args"]
    if not isinstance(messages, list) or not isinstance(store, Mapping):
        return None
    groups = [
        [id_ in store for id_ in _ids_of(message)] for message in messages if _ids_of(message)
    ]
    if any(any(group) and not all(group) for group in groups):
        return _PARTIAL
    if any(not any(group) for group in groups) and check.same_decision:
        return _MISSING
    return None


def _ids_of(message: Mapping[str, Any]) -> Sequence[str]:
    provenance = (message.get("metadata") or {}).get("_cce_original") or {}
    ids: Sequence[str] = provenance.get("ids") or ()
    return ids


def _explain_bad_input(check: Check) -> Cause | None:
    return _INPUT if check.ours.decision == "error" else None


def _explain_budget(check: Check) -> Cause | None:
    """Explain decisions under a budget.

    Each cause but the last is checked against the vector, so that it cannot excuse everything: not
    fitting where the other fits must be due to how tokens are counted, or to its last rung.
    """
    options = (check.vector["args"][1:] or [None])[0] or {}
    if options.get("tokenBudget") is None:
        return None
    if check.theirs.decision == FITS:
        if replay_fits(check.vector, counter=_old_count):
            return _COUNTING
        if _rewrites_question(check):
            return _RECENT
        return _LADDER if replay_fits(check.vector, force_converge=True) else None
    if check.theirs.decision == OVER_BUDGET:
        return _PROMISE
    if check.fits and not check.vector["result"].get("fits"):
        return _PROMISE
    reason = check.ours.reason or ""
    if reason == "rolled_up" and check.theirs.decision != KEPT:
        return _ROLL_UP  # what the roll-up of summaries asks for ends where a text was kept
    if check.ours.decision == KEPT and check.theirs.decision != KEPT:
        if reason == "recency_window" or _is_last_question(check):
            return _RECENT
        if reason.startswith(("hard_t0:", "json_", "code_fence")) or reason == "tool_calls":
            return _REWRITTEN
    for rule in (_explain_reference, _explain_correction):
        cause = rule(check)
        if cause is not None:
            return cause
    return _COUNTING if _would_agree(check, counter=_old_count) else _LADDER


def _rewrites_question(check: Check) -> bool:
    """Tell whether the other engine fits because it changed the last message of the user."""
    asked = [m for m in check.vector["args"][0] if m.get("role") == "user"]
    shown = [text_of(message) for message in check.vector["result"]["messages"]]
    return bool(asked) and text_of(asked[-1]) not in shown


def _is_last_question(check: Check) -> bool:
    roles = [message.get("role") for message in check.vector["args"][0]]
    return "user" not in roles[check.index + 1 :] and roles[check.index] == "user"


def _explain_reference(check: Check) -> Cause | None:
    """Explain differences around duplicates."""
    theirs, ours = check.theirs, check.ours
    if theirs.decision in ("duplicate", "near duplicate") and ours.decision != theirs.decision:
        if _other_speaker_says_it(check, check.index):
            return _SPEAKER
        if (ours.reason or "").endswith(_REVERTED):
            return _GUARD
    return _TARGET if ours.reason == "duplicate_target" else None


def _explain_correction(check: Check) -> Cause | None:
    """Explain differences around corrections."""
    reason = check.theirs.reason or ""
    if (check.ours.reason or "").startswith("corrects:") or "retraction" in reason:
        return _CORRECTION
    if check.ours.decision == "contradicted" and check.theirs.decision == "summarized":
        return _ABSORBED
    if (check.ours.reason or "").startswith("importance:") and _COMMA_SIGNAL.search(check.text):
        return _COMMA
    return None


def _explain_structure(check: Check) -> Cause | None:
    """Explain texts that only one of the two takes for structure."""
    text, theirs, ours = check.text, check.theirs, check.ours
    if theirs.decision == KEPT and ours.decision in ("summarized", "split"):
        if text.startswith(("[summary", "[truncated")):
            return _SPOOF
        hard = set((theirs.reason or "").removeprefix("hard_t0:").split(","))
        if hard <= _SOFTENED if theirs.reason else _resembles_structure(text):
            return _NOT_STRUCTURE
    if text.count("```") % 2 == 1:
        return _OPEN_FENCE
    return None


def _resembles_structure(text: str) -> bool:
    return (
        _RESEMBLING.search(text) is not None
        or len({word.lower() for word in _SQL_WORD.findall(text)}) >= 3
        or len({word.lower() for word in _SEQUENCE_WORD.findall(text)}) >= 3
    )


def _explain_counting(check: Check) -> Cause | None:
    """Count or name summaries the old way and see whether the difference is gone."""
    options = (check.vector["args"][1:] or [None])[0] or {}
    message = check.vector["args"][0][check.index]
    if "observationThreshold" in options and message.get("tool_calls"):
        return _ARGUMENTS if check.ours.reason == "tool_calls" else _COUNTING
    if _would_agree(check, counter=_old_count):
        return _COUNTING
    if options.get("embedSummaryId") and _would_agree(check, embed_summary_id=False):
        return _IDS
    return None


def _would_agree(check: Check, **changes: Any) -> bool:
    again = replay_compress(check.vector, **changes)[check.index]
    return again.decision == check.theirs.decision


def _old_count(text: str) -> int:
    return math.ceil(len(text) / 3.5)


def _explain_merge(check: Check) -> Cause | None:
    """Explain messages that merge with others on one side only."""
    messages = check.vector["args"][0]
    merged = "merged_compressed"
    if merged not in (check.theirs.reason, check.ours.reason):
        return None
    if messages[check.index].get("role") == "tool" and check.theirs.reason == merged:
        return _TOOL_MERGE
    for neighbour in _neighbours(check):
        if neighbour.theirs != neighbour.ours:
            for rule in (_explain_reference, _explain_correction, _explain_structure):
                cause = rule(neighbour)
                if cause is not None:
                    return cause
    run = (check, *_neighbours(check))
    is_split_up = all((member.ours.reason or "").endswith(_REVERTED) for member in run)
    return _EVERY_VOICE if check.theirs.reason == merged and is_split_up else None


def _neighbours(check: Check) -> Iterator[Check]:
    """Yield the checks on the other messages of the same run of one role."""
    messages = check.vector["args"][0]
    role = messages[check.index].get("role")
    for step in (-1, 1):
        index = check.index + step
        while 0 <= index < len(messages) and messages[index].get("role") == role:
            theirs, ours = check.all_theirs[index], check.all_ours[index]
            if not _is_in_run(theirs) and not _is_in_run(ours):
                break
            yield check.at(index)
            index += step


def _is_in_run(verdict: Verdict) -> bool:
    return verdict.decision in ("summarized", "contradicted", "duplicate", "near duplicate")


def _explain_size(check: Check) -> Cause | None:
    """Explain summaries that are short enough on one side only."""
    if not (check.ours.reason or "").endswith(_REVERTED) and check.theirs.decision != KEPT:
        return None
    if check.ours.decision == "split" or check.ours.reason == "code_split_reverted":
        return _IN_PLACE
    if _NEGATED_FILLER.search(check.text):
        return _FILLER
    return _SENTENCES if re.search(r"\d\.\d", check.text) else None


_RULES: Final[Mapping[str, Sequence[Rule]]] = {
    "classifyMessage": (_explain_classify,),
    "extractEntities": (_explain_entities,),
    "bestSentenceScore": (_explain_sentences,),
    "splitSentences": (_explain_sentences,),
    "analyzeDuplicates": (_explain_duplicates,),
    "analyzeFuzzyDuplicates": (_explain_duplicates,),
    "analyzeContradictions": (_explain_contradiction,),
    "computeImportance": (_explain_importance,),
    "scoreContentSignals": (_explain_importance,),
    "compress": (
        _explain_bad_input,
        _explain_budget,
        _explain_reference,
        _explain_correction,
        _explain_structure,
        _explain_merge,
        _explain_counting,
        _explain_size,
    ),
    "uncompress": (_explain_uncompress,),
}
"""For each function, the rules in order; the first that knows the difference names it."""


def count_by_cause(causes: Sequence[Cause]) -> list[tuple[Cause, int]]:
    """Count how often each class occurs, in the order of the table."""
    counts = Counter(causes)
    return [(cause, counts[cause]) for cause in CAUSES if counts[cause]]
