"""The ways to fold that are measured: ours, each result checked, and those of the kit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, Final

from fidelity_kit import Conversation, FoldFunction
from refold import Result, compress, uncompress
from refold.fold.rate import BUCKETS, Weights
from refold.messages.formats import load
from refold.messages.manifest import Trail
from refold.messages.render import render
from refold.messages.token_count import CountedTexts
from refold.options import Options, Profile
from refold.planner import Fitter
from refold.scan.tokens.counter import TokenCounter
from refold.text_cache import TextCache

STANDARD: Final = "refold"
LOSSLESS: Final = "refold lossless"
UNSEEN: Final = "refold unseen"
"""With weights that never saw the source at hand."""
OURS: Final = (STANDARD, LOSSLESS, UNSEEN)


@dataclass(frozen=True, slots=True)
class Folded:
    """What came out of one fold."""

    messages: Conversation
    seconds: float
    """Of processor time, so that whatever else the machine does counts less."""
    budget: int | None
    is_changed: bool
    faults: tuple[str, ...] = ()


Way = Callable[[Conversation, int | None], Folded]


class Once:
    """A way to fold as the kit calls it: folds the same only once, and keeps what came out.

    Made anew for every record, whose folds differ in length and budget alone.
    """

    def __init__(self, way: Way) -> None:
        self._way = way
        self._known: dict[tuple[int, int | None], Folded] = {}
        self.calls: list[tuple[Conversation, Folded]] = []
        """What went in and what came out, call by call."""
        self.last_time: float | None = None
        """Read by the kit in place of its own clock."""

    def __call__(self, messages: Conversation, budget: int | None) -> Conversation:
        """Fold, or remember how it went."""
        key = (len(messages), budget)
        if key not in self._known:
            self._known[key] = self._way(messages, budget)
        folded = self._known[key]
        self.calls.append((messages, folded))
        self.last_time = folded.seconds
        return folded.messages


NAME = "bench"
"""Of every conversation: measured is what is shown, not the anchor of one without a name."""


def kit_way(fold: FoldFunction) -> Way:
    """Measure a method of the kit."""

    def way(messages: Conversation, budget: int | None) -> Folded:
        before = deepcopy(messages)
        start = process_time()
        after = fold(messages, budget)
        seconds = process_time() - start
        return Folded(after, seconds, budget, is_changed=after != before)

    return way


def public_way(profile: Profile, counter: TokenCounter) -> Way:
    """Measure a profile through the public interface, and check all it promises."""

    def way(messages: Conversation, budget: int | None) -> Folded:
        before = deepcopy(messages)
        start = process_time()
        result = compress(
            messages, profile=profile, token_budget=budget, counter=counter, conversation=NAME
        )
        seconds = process_time() - start
        faults = tuple(find_faults(before, messages, result))
        after = list(result.messages)
        return Folded(after, seconds, budget, after != before, faults)

    return way


def weighted_way(weights: Weights, counter: TokenCounter) -> Way:
    """Measure profile `standard` with other weights than those that ship."""

    def way(messages: Conversation, budget: int | None) -> Folded:
        assert budget is not None
        start = process_time()
        options = Options(profile="standard", token_budget=budget, counter=counter)
        text_cache = TextCache(CountedTexts(counter, counter))
        plan, _ = Fitter(load(messages), options, text_cache, weights=weights).fit(budget, budget)
        after = list(render(plan, version=0, trail=Trail.named(NAME)).messages)
        return Folded(after, process_time() - start, budget, after != messages)

    return way


def find_faults(before: Conversation, now: Conversation, result: Result) -> Iterable[str]:
    """Yield what is wrong with a result: each should be valid, and come back as it was."""
    if now != before:
        yield "changed the caller's messages"
    if list(uncompress(result.messages, result.verbatim, conversation=NAME).messages) != before:
        yield "does not come back as it was"
    error = provider_error(result.messages)
    if error is not None and provider_error(before) is None:
        yield f"not valid for the provider: {error}"


def provider_error(messages: Iterable[Mapping[str, Any]]) -> str | None:
    """Return what the provider's own types have against *messages*; None if nothing."""
    from pydantic import ValidationError

    try:
        _read_all(_provider_types().validate_python(list(messages)))
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None


@cache
def _provider_types() -> Any:
    from openai.types.chat import ChatCompletionMessageParam
    from pydantic import TypeAdapter

    return TypeAdapter(list[ChatCompletionMessageParam])


def _read_all(value: object) -> None:
    """Read everything: pydantic checks the items of an `Iterable` only when they are asked for."""
    if isinstance(value, dict):
        for item in value.values():
            _read_all(item)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            _read_all(item)


def weights_without(source: str, folder: Path) -> Weights:
    """Read the weights that `learn_weights.py --folds` fitted without *source*."""
    path = folder / f"{source.replace('/', '_')}.json"
    weights: Weights = json.loads(path.read_text("utf-8"))["weights"]
    wrong = [
        trait
        for class_, traits in BUCKETS.items()
        for trait, grades in traits.items()
        if len(weights.get(class_, {}).get(trait, ())) != grades
    ]
    if wrong:
        raise ValueError(f"{path} has weights of other traits ({', '.join(wrong)})")
    return weights
