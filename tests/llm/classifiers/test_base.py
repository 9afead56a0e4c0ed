"""Classifiers made of functions."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from refold.errors import ConfigError
from refold.llm.classifiers import Classifier, Verdict, as_classifier

KEEP = Verdict("preserve", 0.9, "a decision")


class Fixed:
    async def classify(self, text: str) -> Verdict:
        return KEEP


async def later(text: str) -> Verdict:
    await asyncio.sleep(0)
    return KEEP


@pytest.mark.parametrize("value", [Fixed(), later, lambda text: KEEP])
def test_accepts(value: object) -> None:
    classifier = as_classifier(value)
    assert isinstance(classifier, Classifier)
    assert asyncio.run(classifier.classify("text")) == KEEP


def test_accepts_a_mapping_with_the_names_of_a_verdict() -> None:
    given = {"decision": "preserve", "confidence": 0.9, "reason": "a decision"}
    assert asyncio.run(as_classifier(lambda text: given).classify("text")) == KEEP
    sure = as_classifier(lambda text: {**given, "confidence": 7})
    assert asyncio.run(sure.classify("text")).confidence == 1
    for wrong in ({**given, "decision": "maybe"}, {"decision": "preserve"}, {}):
        with pytest.raises(TypeError, match=r"a classifier must return a Verdict, got \{"):
            asyncio.run(as_classifier(lambda text, wrong=wrong: wrong).classify("text"))


def test_a_classifier_stays_what_it_is() -> None:
    fixed = Fixed()
    assert as_classifier(fixed) is fixed


def test_refuses() -> None:
    with pytest.raises(ConfigError, match="classifier must be a function from text to Verdict"):
        as_classifier(3)


def test_the_function_must_return_a_verdict() -> None:
    function: Any = lambda text: "preserve"  # noqa: E731
    with pytest.raises(TypeError, match="a classifier must return a Verdict, got 'preserve'"):
        asyncio.run(as_classifier(function).classify("text"))


def test_a_verdict_decides_one_of_two_things() -> None:
    decision: Any = "maybe"
    with pytest.raises(ValueError, match="decision must be preserve or compress, got 'maybe'"):
        Verdict(decision, 1.0, "")
