"""What is asked about is found among the pieces, and the question itself is no evidence."""

from __future__ import annotations

import json
from itertools import product

import pytest

from refold import compress
from refold.kinds import json_records
from refold.plan.corpus import index_texts, read_texts
from refold.plan.open_question import find_asked, find_asking, find_surroundings
from tests.conversations import Conversation
from tests.plan.runs import call, counted, read

MAKES = "quartz copper amber walnut linen cedar marble bronze".split()
THINGS = "lantern kettle compass barrel mirror saddle anchor ledger".split()
LOG = "\n".join(
    f"2026-03-14 10:{n // 60:02}:{n % 60:02} INFO worker-{n % 7} job {70_000 + 37 * n} took {n} ms"
    for n in range(400)
)
JOB = str(70_000 + 37 * 211)
ASKED_ABOUT = (3, 59, 121, 211, 347)
"""Some of these lines would be shown anyway; all of them only if they are asked about."""


def run(question: Conversation) -> Conversation:
    return [
        {"role": "user", "content": "Look at the log of last night."},
        *call(1, "read_log", {"name": "worker.log"}, LOG),
        {"role": "assistant", "content": "I have read it."},
        *question,
    ]


def ask(asker: str, job: str) -> Conversation:
    match asker:
        case "user":
            return [{"role": "user", "content": f"How long did job {job} take?"}]
        case "agent":
            return [
                {"role": "assistant", "content": f"Now I look at job {job}."},
                {"role": "user", "content": "Go on."},
            ]
    return call(9, "explain_job", {"id": job}, "")[:1]


def fold(messages: Conversation, share: float) -> list[str]:
    """Return the lines of what is shown beside the question."""
    whole = compress(messages, profile="lossless").compression.tokens_before
    view = compress(messages, profile="standard", token_budget=int(share * whole)).messages
    return [line for message in view[:-1] for line in str(message.get("content")).split("\n")]


@pytest.mark.parametrize("share", [0.5, 0.3, 0.15])
@pytest.mark.parametrize("asker", ["user", "agent", "call"])
def test_the_line_that_is_asked_about_is_shown(asker: str, share: float) -> None:
    for number in ASKED_ABOUT:
        job = str(70_000 + 37 * number)
        lines = fold(run(ask(asker, job)), share)
        assert any(job in line and f" {number} " in f"{line} " for line in lines)


SOURCES = {
    "function": "\n\n".join(
        f"def fee_{n}(days, rows):\n"
        f'    """Fee of the {make} {thing}."""\n'
        f"    if days > {300 + n}:\n        raise ValueError(rows)\n"
        f"    rate = 0.{90_000 + 37 * n}\n    return rate * days\n"
        for n, (make, thing) in enumerate(product(MAKES, THINGS))
    ),
    "record": json.dumps(
        [
            {
                "id": f"fee_{n}",
                "item": f"{make} {thing}",
                "stops": [{"port": port, "berth": n % 9} for port in ("Corvane", "Ashmere")] * 2,
                "rate": 90_000 + 37 * n,
            }
            for n, (make, thing) in enumerate(product(MAKES, THINGS))
        ],
        indent=1,
    ),
    "sentence": " ".join(
        f"The clerk entered the {make} {thing} as fee_{n}. It was valued at {90_000 + 37 * n} "
        "crowns. Nobody knew why the gate was open that night."
        for n, (make, thing) in enumerate(product(MAKES, THINGS))
    ),
}
NAMES = [" ".join(words) for words in product(MAKES, THINGS)]


@pytest.mark.parametrize("share", [0.5, 0.3, 0.15])
@pytest.mark.parametrize("by", ["name", "words"])
@pytest.mark.parametrize("source", SOURCES)
def test_what_belongs_to_what_is_asked_about_is_shown(source: str, by: str, share: float) -> None:
    """The answer never stands in the line that the question finds."""
    for number in (5, 18, 29, 43, 58):
        subject = f"fee_{number}" if by == "name" else f"the {NAMES[number]}"
        messages: Conversation = [
            {"role": "user", "content": "Read what there is."},
            *call(1, "read_file", {"path": "a"}, SOURCES[source]),
            *call(2, "read_log", {"name": "worker.log"}, LOG),
            {"role": "user", "content": f"What is the rate of {subject}?"},
        ]
        shown = "\n".join(fold(messages, share))
        found = shown.find(str(90_000 + 37 * number))
        assert found >= 0, subject
        assert f"fee_{number}" in shown[max(0, found - 400) : found]


@pytest.mark.parametrize(
    ("piece", "record"),
    [
        ('"id": 1', '{"id": 1, "berth": {"n": 4}, "rate": 7}'),
        ('"rate": 7', '{"id": 1, "berth": {"n": 4}, "rate": 7}'),
        ('"n": 4', '{"n": 4}'),
        ('{"n": 4', '{"n": 4}'),
        ('"berth": {"n": 4}', '"berth": {"n": 4}'),
        ('{"n": 4}, "rate": 7}', '{"id": 1, "berth": {"n": 4}, "rate": 7}'),
    ],
)
def test_a_piece_of_json_belongs_to_its_record(piece: str, record: str) -> None:
    text = '[{"id": 1, "berth": {"n": 4}, "rate": 7}, {"id": 2, "berth": {"n": 5}, "rate": 8}]'
    at = text.index(piece)
    start, end = find_surroundings(text, json_records.KIND.name, (at, at + len(piece)))
    assert text[start:end] == record


def test_names_are_found_without_their_module_and_capital() -> None:
    asked = "Saddle, src/app/fees.py and billing.apply_fee, but not config.json"
    texts = [
        {"role": "user", "content": "saddle fees.py apply_fee json"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": asked},
    ]
    messages = read(texts)
    listed = read_texts(messages, counted(), {})
    corpus = index_texts(listed, (), talk=False)
    rows = find_asked(listed, find_asking(messages), corpus)
    assert {item for item, row in corpus.stats.number.items() if row in rows} >= {
        *("saddle", "fees.py", "apply_fee", "config.json")
    }
    assert corpus.stats.number["json"] not in rows


def test_the_last_words_and_open_calls_ask() -> None:
    assert find_asking(read(run(ask("user", JOB)))) == {3, 4}
    assert find_asking(read(run(ask("call", JOB)))) == {0, 4}


def test_capitals_make_no_difference_to_what_is_asked() -> None:
    messages = run([{"role": "user", "content": "What of the INFO of WORKER-3?"}])
    texts = read_texts(read(messages), counted(), {})
    corpus = index_texts(texts, ("system",), talk=False)
    rows = find_asked(texts, find_asking(read(messages)), corpus)
    assert corpus.stats.number["worker-3"] in rows
