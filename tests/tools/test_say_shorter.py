"""Results are said in fewer tokens, and nothing of them is lost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import MemoryStore, retrieve_tool
from refold.codecs import Reencoded, decode, normal, reencode
from refold.plan.one_text import is_structured, say_shorter
from refold.scan.structure import is_json
from refold.scan.tokens.estimate import estimate_tokens
from refold.tools.manager import CompressionManager
from tests.tools.managing import Model, turn

FIXTURES = Path(__file__).parents[1] / "kinds" / "fixtures"
END = {"role": "assistant", "content": "ok"}
VIEW = "\n".join(f"{number:>6}→crate {number} of the ship" for number in range(1, 80))
RECORDS = [{"crate": f"C{n}", "place": "quay 7", "weight": n} for n in range(30)]


@pytest.mark.parametrize(
    "text",
    [VIEW, json.dumps(RECORDS), json.dumps(RECORDS, indent=8)],
    ids=["view", "compact JSON", "JSON with much white space"],
)
def test_what_is_won_can_be_decoded(text: str) -> None:
    short = say_shorter(text, estimate_tokens)
    recoded = reencode(text, estimate_tokens)
    assert short is not None
    assert recoded is not None
    assert decode(Reencoded(short, recoded.by)) == normal(text)
    assert estimate_tokens(short) < 0.9 * estimate_tokens(text)


@pytest.mark.parametrize("text", ["", "A sentence of a few words.", '{"a":1}', "[]"])
def test_where_nothing_is_won_there_is_no_other_form(text: str) -> None:
    assert say_shorter(text, estimate_tokens) is None


@given(st.recursive(st.none() | st.integers() | st.text(max_size=9), st.lists, max_leaves=9))
def test_json_is_never_longer(data: object) -> None:
    text = json.dumps([data])
    short = say_shorter(text, estimate_tokens)
    if short is not None:
        assert estimate_tokens(short) <= estimate_tokens(text)
        assert not is_json(short) or json.loads(short) == [data]


def test_c13_c14_a_lossless_policy_recodes_and_the_text_can_be_fetched() -> None:
    store = MemoryStore()
    model = Model()
    manager = CompressionManager(generate=model, policies={"view": "lossless"}, store=store)
    messages = [*turn(0, VIEW, name="view"), dict(END)]
    report = manager.compress(messages)
    assert [(item.status, item.by) for item in report.items] == [("compressed", "engine")]
    short = messages[1]["compressed_content"]
    assert messages[1]["content"] == VIEW
    assert "79\tcrate 79 of the ship" in short
    assert model.texts == []
    handle = short.rpartition("#")[2].rstrip("]")
    assert VIEW in retrieve_tool(store, messages=messages).call({"handle": handle})


def test_c14_without_a_store_nothing_is_promised() -> None:
    messages = [*turn(0, VIEW, name="view"), dict(END)]
    CompressionManager(generate=Model(), policies={"view": "lossless"}).compress(messages)
    assert messages[1]["compressed_content"].endswith("79\tcrate 79 of the ship")


@pytest.mark.parametrize("fixture", sorted(FIXTURES.glob("*.md")), ids=lambda path: path.stem)
def test_what_has_a_structure_is_known(fixture: Path) -> None:
    source = fixture.read_text(encoding="utf-8")
    found = re.findall(r"^=== yes: .+\n((?:(?!=== ).*\n)*)", source, re.MULTILINE)
    texts = ["\n".join(line[2:] for line in case[:-1].split("\n")) for case in found]
    assert texts
    known = [is_structured(text) for text in texts]
    assert 5 * sum(known) >= 2 * len(known) or fixture.stem == "prose"
    assert 2 * sum(known) < len(known) or fixture.stem != "prose"
