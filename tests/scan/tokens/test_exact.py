"""The exact counters are the real tokenizers, built offline from the vocabularies we ship."""

from __future__ import annotations

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

from refold.scan.tokens.exact import ENCODINGS, ExactCounter, _read_ranks
from tests.conversations import SENTENCES, texts

_SIZES = {"cl100k_base": 100_256, "o200k_base": 199_998}
_PATTERNS = {
    "cl100k_base": (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++"""
        r"""[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
    ),
    "o200k_base": "|".join(
        (
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"""
            r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"""
            r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
            r"""\p{N}{1,3}""",
            r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
            r"""\s*[\r\n]+""",
            r"""\s+(?!\S)""",
            r"""\s+""",
        )
    ),
}


@pytest.fixture(scope="module", params=ENCODINGS)
def pair(request: pytest.FixtureRequest) -> tuple[ExactCounter, tiktoken.Encoding]:
    """Our counter and a tokenizer of tiktoken's own, with its special tokens."""
    name: str = request.param
    reference = tiktoken.Encoding(
        name,
        pat_str=_PATTERNS[name],
        mergeable_ranks=_read_ranks(name),
        special_tokens={"<|endoftext|>": _SIZES[name] + 1},
    )
    return ExactCounter(name), reference


Pair = tuple[ExactCounter, tiktoken.Encoding]


def test_the_patterns_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its own constructors, with the download of the vocabulary left out.
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
    for name, pattern in _PATTERNS.items():
        assert openai_public.ENCODING_CONSTRUCTORS[name]()["pat_str"] == pattern


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_vocabulary_is_whole(name: str) -> None:
    ranks = _read_ranks(name)
    assert len(ranks) == _SIZES[name]
    assert sorted(ranks.values()) == list(range(_SIZES[name]))
    assert all(bytes([byte]) in ranks for byte in range(256))


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("cl100k_base", "tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("cl100k_base", "hello world", [15339, 1917]),
        ("o200k_base", "hello world", [24912, 2375]),
    ],
)
def test_published_examples(name: str, text: str, tokens: list[int]) -> None:
    counter = ExactCounter(name)
    assert counter(text) == len(tokens)
    ranks = _read_ranks(name)
    spelled = {rank: token for token, rank in ranks.items()}
    assert b"".join(spelled[token] for token in tokens).decode() == text


@given(text=st.one_of(texts(), st.text(max_size=200)))
def test_it_counts_as_the_tokenizer_does(pair: Pair, text: str) -> None:
    counter, reference = pair
    clean = text.encode("utf-8", "replace").decode("utf-8")
    assert counter(clean) == len(reference.encode(clean, disallowed_special=()))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_language(pair: Pair, sentence: str) -> None:
    counter, reference = pair
    assert counter(sentence) == len(reference.encode(sentence)) > 0


def test_nothing_costs_nothing(pair: Pair) -> None:
    assert pair[0]("") == 0


@pytest.mark.parametrize("special", ["<|endoftext|>", "<|im_start|>", "<|endofprompt|>"])
def test_special_tokens_in_a_text_are_text(pair: Pair, special: str) -> None:
    counter, reference = pair
    assert counter(special) == len(reference.encode_ordinary(special)) > 1
    assert counter(f"say {special} now") > counter("say  now")


@pytest.mark.parametrize(
    "text", ["\ud800", "a\ud83d", "\ude00b", "\ud800\ud800", "x" * 100 + "\udc00"]
)
def test_a_lone_surrogate_is_counted_as_a_replacement(pair: Pair, text: str) -> None:
    counter, _ = pair
    clean = "".join("?" if "\ud800" <= char <= "\udfff" else char for char in text)
    assert 0 < counter(text) <= counter(clean) + 2 * len(text)
    assert counter(text) == counter(text)


def test_its_repr_names_the_vocabulary() -> None:
    assert repr(ExactCounter("o200k_base")) == "ExactCounter('o200k_base')"


def test_a_long_run_is_counted_in_time() -> None:
    assert ExactCounter("o200k_base")("ab" * 20_000) > 0
