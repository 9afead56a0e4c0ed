"""What a model may be called: spellings, providers, tags, dates, versions, sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_THOUSANDS: Final = {"k": 1_000, "m": 1_000_000}

_SPELLING: Final = re.compile(r"[-._:@ ]|(?<=\d)p(?=\d)|(?:^|(?<=[-./_]))v(?=\d)")


def key_of(name: str) -> str:
    """Return *name* without what providers spell differently.

    `claude-3.5-sonnet` and `claude-3-5-sonnet`, `llama3:8b` and `Llama-3-8B`, `gpt-35-turbo` and
    `gpt-3.5-turbo`, `llama-v3p1-8b` and `llama-3.1-8b` have the same key.
    """
    return _SPELLING.sub("", name.lower())


_TAG_WORD: Final = re.compile(
    r"\d{1,4}(?:\.\d{1,3})?[bm]|\d{1,2}x\d{1,3}b|a\d{1,3}b|e\d{1,2}b|\d{1,2}|v\d[\w.]{0,6}"
    r"|i?q\d\w{0,8}|(?:bf|fp|int)\d{1,2}|latest|default|free|beta|nitro|floor|online|thinking"
    r"|extended|exacto|cloud|instruct|chat|text|it|qat|base|mini|medium|small|large|code|vision"
)


_STATED: Final = re.compile(r"(\d{1,5})([km])")


def _is_tag(text: str) -> bool:
    return all(_TAG_WORD.fullmatch(word) for word in text.split("-"))


def split_stated(name: str) -> tuple[str, int | None]:
    """Split off the window that the name itself states.

    So do `claude-sonnet-4-5[1m]`, Bedrock's `…-v1:0:28k` and Ollama's `phi3:14b-medium-128k`; but
    not `openai:gpt-4-32k`, where it belongs to the name of the model.
    """
    if name.endswith("]"):
        before, _, stated = name[:-1].rpartition("[")
        words = []
    else:
        before, _, tag = name.rpartition(":")
        words = tag.split("-")
        stated = next((word for word in words if re.fullmatch(r"\d{1,5}k", word)), "")
        words = [word for word in words if word != stated]
    found = _STATED.fullmatch(stated)
    if found is None or not before or (words and not _is_tag("-".join(words))):
        return name, None
    plain = f"{before}:{'-'.join(words)}" if words else before
    return plain, int(found[1]) * _THOUSANDS[found[2]]


def spellings(name: str) -> Iterator[str]:
    """Yield what *name* may be called in the table, the most specific spelling first."""
    base = _without_tuning(name)
    segments = base.split("/")
    for start in range(len(segments)):
        for form in _tag_forms("/".join(segments[start:])):
            for plain in _vendor_forms(form):
                yield from _shortened(plain)


def _without_tuning(name: str) -> str:
    """Return the model that a fine-tuned one was made from: `ft:gpt-4o-mini:acme::id`."""
    if name.startswith("ft:"):
        return name[3:].split(":", 1)[0]
    return re.split(r"[:.]ft-", name, maxsplit=1)[0]


def _tag_forms(name: str) -> Iterator[str]:
    """Yield *name* with what stands before or behind a colon taken as a provider or as a tag."""
    yield name
    before, colon, after = name.partition(":")
    if not colon:
        return
    yield f"{before}/{after}"
    yield from _tag_forms_of_rest(after)
    while colon:
        before, colon, after = name.rpartition(":")
        if colon and _is_tag(after):
            yield f"{before}-{after}"
            yield before
        name = before


def _tag_forms_of_rest(name: str) -> Iterator[str]:
    """Yield each part of *name* that may be a model behind a provider."""
    while name:
        yield name
        last, _, name = name.partition(":")
        if name:
            yield last


_VENDORS: Final = re.compile(
    r"^(?:(?:[a-z]{2,6}|us-gov)\.)?"
    r"(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai"
    r"|nvidia|openai|qwen|writer|xai|zai)\."
)
_HOUSES: Final = ("databricks-", "zai-", "meta-", "mistralai-", "anthropic-", "openai-", "google-")


def _vendor_forms(name: str) -> Iterator[str]:
    """Yield *name*, and *name* without region and vendor: `us.anthropic.claude-…`."""
    yield name
    plain = _VENDORS.sub("", name)
    if plain != name:
        vendor = name[: len(name) - len(plain)].rstrip(".").rpartition(".")[2]
        yield plain
        yield f"{vendor}-{plain}"
    for house in _HOUSES:
        if name.startswith(house):
            yield name.removeprefix(house)


_SUFFIX: Final = re.compile(
    r"[-@:](?:"
    r"\d{8}|\d{4}-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d|\d{6}|\d{3,4}|\d"  # dates and builds
    r"|v\d{1,2}(?:[.:]\d{1,2})?"  # versions of a package
    r"|latest|default|preview|exp|experimental|beta|stable|free|maas"
    r"|instruct|instruct-turbo|chat|it|hf|text|base|dynamic|thinking|reasoning|non-reasoning"
    r"|high|low|minimal|xhigh"  # how hard to think
    r"|i?q\d\w{0,8}|(?:bf|fp|int|nvfp|mxfp)\d{1,2}|awq|gptq|gguf|mlx|4bit|8bit|bnb|qat"
    r")$"
)
_SIZE: Final = re.compile(r"[-:](?:\d{1,2}x)?\d{1,4}(?:[.p]\d{1,3})?b(?:-a\d{1,3}(?:\.\d)?b)?$")


def _shortened(name: str) -> Iterator[str]:
    """Yield *name* and what is left of it, one date, version or quantization less each time."""
    yield name
    while (found := _SUFFIX.search(name)) and found.start():
        name = name[: found.start()]
        yield name
    found = _SIZE.search(name)
    if found and found.start():
        yield name[: found.start()]
