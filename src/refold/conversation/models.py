"""How many tokens a model can read, and what they cost: look-up by any of the names of a model.

Both are tables of `models.txt`, written from the sources that it names, with their dates; none of
them is needed at run time. A dash, or nothing, stands for what is not known.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Literal, Self, TypeVar

from refold.checks import check_whole
from refold.errors import ConfigError

T = TypeVar("T")

MAX_NAME_CHARS: Final = 256
"""No provider has longer ids; a longer text is not looked at."""
MILLION: Final = 1_000_000
"""The tokens that a list price is for."""
_UNKNOWN: Final = "-"

_SPELLING: Final = re.compile(r"[-._:@ ]|(?<=\d)p(?=\d)|(?:^|(?<=[-./_]))v(?=\d)")


def read_table(table: Literal["windows", "prices"]) -> Iterator[tuple[date, str, list[str]]]:
    """Read a table: the day, the source and the words of each row, the strongest source last."""
    text = files("refold.conversation").joinpath("models.txt").read_text("utf-8")
    (part,) = (part for part in f"\n{text}".split("\n# ") if part.startswith(f"{table}:"))
    for section in part.split("\n## ")[1:]:
        heading, *rows = section.splitlines()
        day, _, source = heading.partition(" ")
        yield from ((date.fromisoformat(day), source, row.split()) for row in rows)


def find_model(table: Mapping[str, T], name: str) -> T | None:
    """Return the row of a model in a table of keys, by any of its names."""
    name = name.strip().lower()
    if len(name) > MAX_NAME_CHARS:
        return None
    rows = (table.get(key_of(one)) for one in (name, *spellings(name)))
    return next((row for row in rows if row is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a model can read and write, and the source of these figures."""

    model: str
    """The name in the table that answered."""
    context_tokens: int
    """Prompt and answer together."""
    max_output_tokens: int | None = None
    """The longest answer, where it is known."""
    max_input_tokens: int | None = None
    """The longest prompt, where it is less than the whole window."""
    source: str
    """Where the numbers come from."""
    as_of: date | None
    """When the source said so; `None` for what the caller registered without a date."""

    def __post_init__(self) -> None:
        for name in ("context_tokens", "max_output_tokens", "max_input_tokens"):
            value: object = getattr(self, name)
            if value is None and name != "context_tokens":
                continue
            check_whole(f"{name} of {self.model!r}", value, least=1)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WindowRegistry:
    """The known models; immutable, so adding one makes a new registry."""

    windows: Mapping[str, Window] = field(default_factory=dict[str, Window])
    """The windows by the spelling-free key of each name."""

    @classmethod
    def built_in(cls) -> Self:
        """Return the built-in registry."""
        windows: dict[str, Window] = {}
        for day, source, (name, *words) in read_table("windows"):
            context, output, prompt = (*map(_number, words), None, None, None)[:3]
            windows[key_of(name)] = Window(
                model=name,
                context_tokens=int(context or 0),
                max_output_tokens=None if output is None else int(output),
                max_input_tokens=None if prompt is None else int(prompt),
                source=source,
                as_of=day,
            )
        return cls(windows=MappingProxyType(windows))

    def with_model(
        self,
        model: str,
        *,
        context_tokens: int,
        max_output_tokens: int | None = None,
        max_input_tokens: int | None = None,
        source: str = "registered by the caller",
        as_of: date | None = None,
    ) -> Self:
        """Return a registry that also knows *model*, or knows it differently."""
        return self._with(
            model,
            Window(
                model=model.strip(),
                context_tokens=context_tokens,
                max_output_tokens=max_output_tokens,
                max_input_tokens=max_input_tokens,
                source=source,
                as_of=as_of,
            ),
        )

    def with_alias(self, alias: str, model: str) -> Self:
        """Return a registry where *alias* means *model*, say for the name of a deployment."""
        return self._with(alias, self.window_of(model))

    def _with(self, name: str, window: Window) -> Self:
        key = key_of(name.strip())
        if not key:
            raise ConfigError(f"a model needs a name, got {name!r}")
        return replace(self, windows=MappingProxyType({**self.windows, key: window}))

    def find(self, model: str) -> Window | None:
        """Return the window of *model*, or `None` if no spelling of it is known."""
        name = model.strip().lower()
        if len(name) > MAX_NAME_CHARS:
            return None
        plain, stated = _split_stated(name)
        exact = self.windows.get(key_of(name))
        window = exact or find_model(self.windows, plain)
        if exact is None and window is not None and stated:
            return replace(window, context_tokens=stated, max_input_tokens=None)
        return window

    def window_of(self, model: str) -> Window:
        """Return the window of *model*; raise `ConfigError` if it is not known."""
        if not isinstance(model, str):
            raise ConfigError(f"model must be the name of a model, got {model!r}")
        window = self.find(model)
        if window is not None:
            return window
        name = model[:MAX_NAME_CHARS]
        last = key_of(name.strip().rpartition("/")[2])
        near = difflib.get_close_matches(last, self.windows, n=1, cutoff=0.7)
        hint = f" (nearest known: {self.windows[near[0]].model!r})" if near else ""
        raise ConfigError(
            f"the context window of model {name!r} is not known{hint}; pass context_limit=…, "
            f"or register it: DEFAULT_REGISTRY.with_model({name!r}, context_tokens=…)"
        )

    def __contains__(self, model: object) -> bool:
        return isinstance(model, str) and self.find(model) is not None

    def __len__(self) -> int:
        return len(self.windows)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(models={len(self)})"


def _number(text: str) -> float | None:
    return None if text == _UNKNOWN else float(text.replace("_", ""))


def key_of(name: str) -> str:
    """Return *name* without what providers spell differently.

    `claude-3.5-sonnet` and `claude-3-5-sonnet`, `llama3:8b` and `Llama-3-8B`, `gpt-35-turbo` and
    `gpt-3.5-turbo`, `llama-v3p1-8b` and `llama-3.1-8b` have the same key.
    """
    return _SPELLING.sub("", name.lower())


# --- names ------------------------------------------------------------------------------------

_TAG_WORD: Final = (
    r"(?:\d{1,4}(?:\.\d{1,3})?[bm]|\d{1,2}x\d{1,3}b|a\d{1,3}b|e\d{1,2}b|\d{1,2}|v\d[\w.]{0,6}"
    r"|i?q\d\w{0,8}|(?:bf|fp|int)\d{1,2}|latest|default|free|beta|nitro|floor|online|thinking"
    r"|extended|exacto|cloud|instruct|chat|text|it|qat|base|mini|medium|small|large|code|vision)"
)
_TAG: Final = re.compile(rf":{_TAG_WORD}(?:-{_TAG_WORD})*(?=:|$)")
"""What Ollama and OpenRouter write after a colon."""
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
"""What a name may end with that its row in the table does not have."""
_SIZE: Final = re.compile(r"[-:](?:\d{1,2}x)?\d{1,4}(?:[.p]\d{1,3})?b(?:-a\d{1,3}(?:\.\d)?b)?$")
"""What it may end with when all of that is gone."""
_REGION: Final = r"^(?:(?:[a-z]{2,6}|us-gov)\.)?"
_VENDOR: Final = (
    r"(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai"
    r"|nvidia|openai|qwen|writer|xai|zai)\."
)
_BEGINNINGS: Final = (
    re.compile(rf"{_REGION}(?={_VENDOR})"),
    re.compile(_REGION + _VENDOR),
    re.compile(r"^(?:databricks|zai|meta|mistralai|anthropic|openai|google)-"),
)
"""What it may begin with."""


def _split_stated(name: str) -> tuple[str, int | None]:
    """Split off the window that the name itself states.

    So do `claude-sonnet-4-5[1m]`, Bedrock's `…-v1:0:28k` and Ollama's `phi3:14b-medium-128k`; but
    not `openai:gpt-4-32k`, where it belongs to the name of the model.
    """
    before, _, stated = name[:-1].rpartition("[") if name.endswith("]") else name.rpartition(":")
    words = stated.split("-")
    size = next((word for word in words if re.fullmatch(r"\d{1,5}[km]", word)), "")
    rest = [word for word in words if word != size]
    if not size or not before or not all(re.fullmatch(_TAG_WORD, word) for word in rest):
        return name, None
    plain = f"{before}:{'-'.join(rest)}" if rest else before
    return plain, int(size[:-1]) * (1_000 if size[-1] == "k" else MILLION)


def spellings(name: str) -> Iterator[str]:
    """Yield what *name* may be called in the table, the most specific spelling first."""
    if name.startswith("ft:"):  # the model that a fine-tuned one was made from
        name = name[3:].split(":", 1)[0]
    name = re.split(r"[:.]ft-", name, maxsplit=1)[0]
    starts = [0, *(cut.end() for cut in re.finditer("[/:]", name))]
    seen = {""}
    for start in starts:  # before a colon or slash there may be a provider
        rest = name[start:]
        ends = [end for tag in _TAG.finditer(rest) for end in (tag.start(), tag.end())]
        forms = [rest, rest.replace(":", "/", 1), *(rest[:end] for end in reversed(ends))]
        if start and name[start - 1] == ":":
            forms.append(rest.partition(":")[0])
        for form in forms:
            for plain in (form, *(begin.sub("", form) for begin in _BEGINNINGS)):
                last, shorter = "", plain
                while shorter not in seen:
                    seen.add(shorter)
                    yield shorter
                    last, shorter = shorter, _SUFFIX.sub("", shorter)
                if last:
                    yield _SIZE.sub("", last)


DEFAULT_REGISTRY: Final = WindowRegistry.built_in()
"""The built-in registry."""


def window_of(model: str, registry: WindowRegistry = DEFAULT_REGISTRY) -> Window:
    """Return the window of *model*; raise `ConfigError` if *registry* does not know it.

    Understands `provider:model`, `provider/model`, dates, versions and quantizations at the end,
    the ids of Bedrock, Vertex, Azure, OpenRouter, Fireworks and Ollama, and fine-tuned models.
    """
    return registry.window_of(model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens."""

    model: str
    """The name in the table that answered."""
    usd_per_million: float
    """Of the prompt."""
    output: float | None = None
    cache_read: float | None = None
    cache_written: float | None = None
    long_tokens: int | None = None
    """A prompt with more tokens costs `long_usd_per_million`, if that is known."""
    long_usd_per_million: float | None = None

    def cost_usd(self, tokens: int) -> float:
        """Return what one request with so many tokens of input costs."""
        is_long = self.long_tokens is not None and tokens > self.long_tokens
        rate = self.long_usd_per_million if is_long else self.usd_per_million
        return tokens * (rate or 0.0) / MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The prices of one day, by the spelling-free key of each name."""

    source: str
    as_of: date
    prices: Mapping[str, Price]

    def find(self, model: str) -> Price | None:
        """Return the price of *model*, or `None` if no spelling of it is known."""
        return find_model(self.prices, model)


@cache
def list_prices() -> PriceList:
    """Read the prices that come with refold."""
    prices: dict[str, Price] = {}
    table = [*read_table("prices")]
    for _, _, (name, *words) in table:
        rate, output, read, written, tokens, long = (*map(_number, words), None, None)[:6]
        prices[key_of(name)] = Price(
            model=name,
            usd_per_million=rate or 0.0,
            output=output,
            cache_read=read,
            cache_written=written,
            long_tokens=None if tokens is None else int(tokens),
            long_usd_per_million=long,
        )
    day, source, _ = table[0]
    return PriceList(source=source, as_of=day, prices=prices)
