"""Replay one recorded call of context-compression-engine 1.5.0 with refold and compare."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from refold import Options, RefoldError, classify, compress, uncompress
from refold.classic.detectors import TABLE
from refold.classic.names import entity_cap, iter_names
from refold.classic.others import find_nearest, score_importance, score_signals
from refold.classic.rules import Run
from refold.classic.sentences import read, split
from refold.classic.texts import Reader, View
from refold.messages.formats import load
from refold.messages.token_count import CountedTexts
from refold.result import TraceEntry
from refold.scan.tokens.estimate import estimate_tokens

Vector = Mapping[str, Any]

_PROFILE: Final = "classic"
"""The profile with the rules of the engine that was recorded."""
KEPT: Final = "kept"
FITS: Final = "fits"
OVER_BUDGET: Final = "over budget"
IMPORTANCE_THRESHOLD: Final = 0.65
_SCORE_TOLERANCE: Final = 0.005
_ACTIONS: Final = {
    "preserved": KEPT,
    "deduped": "duplicate",
    "fuzzy_deduped": "near duplicate",
    "contradicted": "contradicted",
    "code_split": "split",
    "compressed": "summarized",
    "truncated": "truncated",
}
_TAGS: Final = (
    ("[cce:dup", "duplicate", "exact_duplicate"),
    ("[cce:near-dup", "near duplicate", "fuzzy_duplicate"),
    ("[cce:superseded", "contradicted", None),
    ("[truncated", "truncated", None),
)


class UnsupportedError(Exception):
    """A vector that asks for something refold has no option for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was done and why; a reason that was not recorded is `None` and is not compared."""

    decision: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing both engines decided on."""

    fn: str
    theirs: Verdict
    ours: Verdict
    vector: Vector
    index: int = 0
    """Which message of the vector this is about, where it is about one."""
    all_theirs: Sequence[Verdict] = ()
    all_ours: Sequence[Verdict] = ()
    """The verdicts on every message of the vector, for reasons that lie in a neighbour."""
    fits: bool | None = None
    """Whether our result keeps the budget, if there is one."""

    @property
    def group(self) -> str:
        """The row of the table it belongs to: budgets are compared apart."""
        return self.fn if self.fits is None else f"{self.fn} (budget)"

    @property
    def same_decision(self) -> bool:
        """Whether both did the same."""
        return self.theirs.decision == self.ours.decision

    @property
    def has_reason(self) -> bool:
        """Whether there is a reason to compare."""
        return self.theirs.reason is not None

    @property
    def same_reason(self) -> bool:
        """Whether both gave the same reason."""
        return self.theirs.reason == self.ours.reason

    def at(self, index: int) -> Check:
        """Return the check on another message of the same vector."""
        return replace(self, index=index, theirs=self.all_theirs[index], ours=self.all_ours[index])

    @property
    def text(self) -> str:
        """The text it is about."""
        subject = self.vector["args"][0]
        if isinstance(subject, str):
            return subject
        return text_of(subject[self.index]) if self.index < len(subject) else ""


def text_of(message: object) -> str:
    """Return the text of a recorded message, if it has one."""
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, str) else ""


def replay(vector: Vector) -> Iterator[Check]:
    """Yield all that can be compared; raise `UnsupportedError` if nothing can."""
    replayer = REPLAYERS.get(vector["fn"])
    if replayer is None:
        raise UnsupportedError(vector["fn"])
    return replayer(vector)


def _classify(vector: Vector) -> Iterator[Check]:
    theirs, ours = vector["result"], classify(vector["args"][0])
    yield Check(
        fn=vector["fn"],
        vector=vector,
        theirs=Verdict(decision=theirs["decision"], reason=_set(theirs["reasons"])),
        ours=Verdict(decision=ours.tier, reason=_set(ours.reasons)),
    )


def _set(reasons: Sequence[str]) -> str:
    return ",".join(sorted(set(reasons)))


def _value(compute: Callable[..., Any]) -> Callable[[Vector], Iterator[Check]]:
    """Make a replayer for a function whose whole result is one value."""

    def replayer(vector: Vector) -> Iterator[Check]:
        ours = compute(*vector["args"])
        theirs = vector["result"]
        if isinstance(theirs, float) and math.isclose(theirs, ours):
            ours = theirs
        yield Check(
            fn=vector["fn"],
            vector=vector,
            theirs=Verdict(decision=repr(theirs)),
            ours=Verdict(decision=repr(ours)),
        )

    return replayer


def _best_sentence_score(text: str) -> int:
    return max(read(View(text)).scores, default=0)


def _split_sentences(text: str) -> list[str]:
    return [sentence for _, sentence in split(text)]


def _extract_entities(text: str, cap: int | None = None) -> list[str]:
    names = list(dict.fromkeys(iter_names(View(text))))
    return names[: entity_cap(len(text)) if cap is None else cap]


def _entities(vector: Vector) -> Iterator[Check]:
    ours, theirs = _extract_entities(*vector["args"]), vector["result"]
    yield Check(
        fn=vector["fn"],
        vector=vector,
        theirs=Verdict(decision=repr(sorted(theirs)), reason=repr(theirs)),
        ours=Verdict(decision=repr(sorted(ours)), reason=repr(ours)),
    )


def _importance(vector: Vector) -> Iterator[Check]:
    messages = vector["args"][0]
    ours = score_importance([View(text_of(message)) for message in messages])
    theirs = dict(vector["result"])
    for index, score in enumerate(ours):
        other = theirs[index]
        mine = other if abs(score - other) <= _SCORE_TOLERANCE else score
        yield Check(
            fn=vector["fn"],
            vector=vector,
            index=index,
            theirs=Verdict(decision=_importance_of(other), reason=f"{other:.3f}"),
            ours=Verdict(decision=_importance_of(score), reason=f"{mine:.3f}"),
        )


def _importance_of(score: float) -> str:
    return "important" if score >= IMPORTANCE_THRESHOLD else "ordinary"


def _duplicates(vector: Vector) -> Iterator[Check]:
    messages, recent_from, preserve = vector["args"]
    run = _run(messages, recent_from, preserve=tuple(preserve))
    ours = {
        text.message.index: Verdict(decision="duplicate", reason=f"of {copy.to.message.index}")
        for text, copy in run.copies.items()
        if copy.to
    }
    theirs = {
        place: Verdict(decision="duplicate", reason=f"of {found['duplicateOfIndex']}")
        for place, found in vector["result"]
    }
    yield from _annotated(vector, theirs, ours)


def _near_duplicates(vector: Vector) -> Iterator[Check]:
    messages, recent_from, preserve, exact, threshold = vector["args"]
    run = _run(
        messages,
        recent_from,
        preserve=tuple(preserve),
        dedup=False,
        fuzzy_dedup=True,
        fuzzy_threshold=threshold,
    )
    ours = {
        text.message.index: Verdict(
            decision="near duplicate",
            reason=_near_reason(copy.to.message.index, copy.similarity or 0.0),
        )
        for text, copy in run.near_copies.items()
        if copy.to
    }
    skipped = {item[0] if isinstance(item, list) else item for item in exact}
    theirs = {
        place: Verdict(
            decision="near duplicate",
            reason=_near_reason(found["duplicateOfIndex"], found["similarity"]),
        )
        for place, found in vector["result"]
    }
    yield from _annotated(
        vector, theirs, {place: v for place, v in ours.items() if place not in skipped}
    )


def _near_reason(target: int, similarity: float) -> str:
    return f"of {target}, {similarity:.2f}"


def _contradictions(vector: Vector) -> Iterator[Check]:
    messages, threshold, preserve = vector["args"]
    run = _run(
        messages,
        len(messages),
        preserve=tuple(preserve),
        contradiction_detection=True,
        contradiction_topic_threshold=threshold,
    )
    ours = {
        text.message.index: Verdict(
            decision="contradicted",
            reason=f"by {by.message.index} {signal}",
        )
        for text, (by, signal) in find_nearest(run).items()
    }
    theirs = {
        place: Verdict(
            decision="contradicted", reason=f"by {found['supersededByIndex']} {found['signal']}"
        )
        for place, found in vector["result"]
    }
    yield from _annotated(vector, theirs, ours)


def _run(messages: Sequence[Mapping[str, Any]], recent_from: int, **choices: Any) -> Run:
    """Return a run on which no rule has decided yet."""
    loaded = load(messages)
    window = len(loaded) - (recent_from or len(loaded))
    reader = Reader(CountedTexts(estimate_tokens, estimate_tokens), detectors=TABLE)
    return Run(loaded, Options(profile=_PROFILE, **choices), reader, window)


def _annotated(
    vector: Vector, theirs: Mapping[int, Verdict], ours: Mapping[int, Verdict]
) -> Iterator[Check]:
    """Compare two sets of annotated messages; a message without annotation is left alone."""
    count = len(vector["args"][0])
    alone = Verdict(decision="left alone", reason="")
    all_theirs = [theirs.get(index, alone) for index in range(count)]
    all_ours = [ours.get(index, alone) for index in range(count)]
    yield from _paired(vector, all_theirs, all_ours)


def _paired(
    vector: Vector,
    all_theirs: Sequence[Verdict],
    all_ours: Sequence[Verdict],
    fits: bool | None = None,
) -> Iterator[Check]:
    for index, (theirs, ours) in enumerate(zip(all_theirs, all_ours, strict=True)):
        yield Check(
            fn=vector["fn"],
            vector=vector,
            index=index,
            theirs=theirs,
            ours=ours,
            all_theirs=all_theirs,
            all_ours=all_ours,
            fits=fits,
        )


def _uncompress(vector: Vector) -> Iterator[Check]:
    messages, store, *_ = vector["args"]
    try:
        result = uncompress(messages, store, accept_foreign=True)
    except RefoldError as error:
        yield _failed(vector, error)
        return
    if "error" in vector:
        yield _passed(vector)
        return
    theirs = vector["result"]
    ours = {
        "messages_expanded": result.messages_expanded,
        "messages_passthrough": result.messages_passthrough,
        "missing_ids": result.missing_ids,
    }
    yield Check(
        fn=vector["fn"],
        vector=vector,
        theirs=Verdict(
            decision=repr(theirs["messages"]), reason=repr({name: theirs[name] for name in ours})
        ),
        ours=Verdict(decision=repr(result.messages), reason=repr(ours)),
    )


def _failed(vector: Vector, error: RefoldError) -> Check:
    theirs = "error" if "error" in vector else "result"
    return Check(
        fn=vector["fn"],
        vector=vector,
        theirs=Verdict(decision=theirs),
        ours=Verdict(decision="error", reason=str(error)),
    )


def _passed(vector: Vector) -> Check:
    return Check(
        fn=vector["fn"],
        vector=vector,
        theirs=Verdict(decision="error"),
        ours=Verdict(decision="result"),
    )


def _compress(vector: Vector) -> Iterator[Check]:
    messages, *rest = vector["args"]
    options = _options((rest[0] if rest else None) or {})
    try:
        result = compress(messages, **{**options, "trace": True})
    except RefoldError as error:
        yield _failed(vector, error)
        return
    if "error" in vector:
        yield _passed(vector)
        return
    fits = getattr(result, "fits", None)
    if options.get("token_budget") is not None and fits is None:
        raise UnsupportedError("token_budget")  # an option that no result answers is not there yet
    recorded = vector["result"]["compression"].get("decisions")
    theirs = (
        _traced(recorded, len(messages))
        if recorded
        else _derived(messages, vector["result"]["messages"])
    )
    yield from _paired(vector, theirs, _our_verdicts(result.decisions, len(messages)), fits)
    if vector["result"].get("fits") is not None:
        yield Check(
            fn="compress",
            vector=vector,
            theirs=_fit(vector["result"]["fits"]),
            ours=_fit(fits),
            fits=fits,
        )


def _fit(fits: bool | None) -> Verdict:
    return Verdict(decision=FITS if fits else OVER_BUDGET)


def replay_fits(vector: Vector, **changes: Any) -> bool:
    """Tell whether the budget of *vector* is kept with some options changed."""
    messages, *rest = vector["args"]
    result = compress(messages, **{**_options((rest[0] if rest else None) or {}), **changes})
    return bool(result.fits)


def replay_compress(vector: Vector, **changes: Any) -> list[Verdict]:
    """Compress the conversation of *vector* once more, with some options changed."""
    messages, *rest = vector["args"]
    options = {**_options((rest[0] if rest else None) or {}), "trace": True, **changes}
    return _our_verdicts(compress(messages, **options).decisions, len(messages))


def _options(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Spell recorded options our way; raise `UnsupportedError` if there is one we do not have."""
    known = {field.name for field in fields(Options)}
    options = {re.sub("[A-Z]", lambda m: f"_{m[0].lower()}", k): v for k, v in recorded.items()}
    if "token_budget" in options and "force_converge" in known:
        options.setdefault("force_converge", False)  # the recorded default; ours is True
    missing = sorted(set(options) - known)
    if missing:
        raise UnsupportedError(", ".join(missing))
    return {"profile": _PROFILE, **options}


def _traced(decisions: Sequence[Mapping[str, Any]], count: int) -> list[Verdict]:
    by_index = {
        entry["messageIndex"]: Verdict(decision=_ACTIONS[entry["action"]], reason=entry["reason"])
        for entry in decisions
    }
    return [by_index.get(index, Verdict(decision=KEPT)) for index in range(count)]


def _our_verdicts(decisions: Sequence[TraceEntry], count: int) -> list[Verdict]:
    found: dict[int, Verdict] = {}
    for entry in decisions:
        verdict = Verdict(decision=_ACTIONS[entry.action], reason=entry.reason)
        if found.setdefault(entry.message_index, verdict).decision == KEPT:
            found[entry.message_index] = verdict
    return [found[index] for index in range(count)]


def _derived(
    messages: Sequence[Mapping[str, Any]], output: Sequence[Mapping[str, Any]]
) -> list[Verdict]:
    """Read the decisions off the output, for vectors that were recorded without a trace."""
    verdicts: dict[str, Verdict] = {}
    texts = {message["id"]: text_of(message) for message in messages}
    for message in output:
        provenance = (message.get("metadata") or {}).get("_cce_original")
        if not provenance or text_of(message) == texts.get(message["id"]):
            continue
        for id_ in provenance["ids"]:
            verdicts[id_] = _read_tag(text_of(message), texts.get(id_, ""), len(provenance["ids"]))
    return [verdicts.get(message["id"], Verdict(decision=KEPT)) for message in messages]


def _read_tag(stand_in: str, original: str, merged: int) -> Verdict:
    for prefix, decision, reason in _TAGS:
        if stand_in.startswith(prefix):
            return Verdict(decision=decision, reason=reason)
    if "```" in original and merged == 1:
        return Verdict(decision="split", reason="code_split")
    return Verdict(
        decision="summarized", reason="merged_compressed" if merged > 1 else "compressible_prose"
    )


REPLAYERS: Final[Mapping[str, Callable[[Vector], Iterator[Check]]]] = {
    "classifyMessage": _classify,
    "extractEntities": _entities,
    "bestSentenceScore": _value(_best_sentence_score),
    "splitSentences": _value(_split_sentences),
    "scoreContentSignals": _value(lambda text: score_signals(View(text))),
    "computeImportance": _importance,
    "analyzeDuplicates": _duplicates,
    "analyzeFuzzyDuplicates": _near_duplicates,
    "analyzeContradictions": _contradictions,
    "compress": _compress,
    "uncompress": _uncompress,
}
"""Every recorded function that can be replayed."""
