"""A budget shows what its reader needs first, in whole pieces, and never more for less."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import compress, uncompress
from refold.codecs.records import respell
from refold.fold.cut import cut
from refold.fold.pieces import Grade
from refold.fold.rate import Index, rate
from refold.fold.texts import read
from refold.messages.formats import load
from refold.result import Result
from tests.conversations import Conversation
from tests.plan.runs import call, runs, source_code


def words(text: str) -> int:
    return len(text.split())


def ledger(rows: int, first: int = 0) -> str:
    data = [
        {"id": f"K-{n}", "cargo": f"barrel {n * 7919 % 9973}", "state": "stored"}
        for n in range(first, first + rows)
    ]
    return json.dumps(data)


def shown(result: Result) -> str:
    return json.dumps(result.messages, ensure_ascii=False)


def fold(messages: Conversation, share: float) -> Result:
    whole = compress(messages, counter=words, token_budget=10**9).tokens_before
    budget = int(share * whole)
    result = compress(messages, counter=words, token_budget=budget, conversation="quay")
    back = uncompress(result.messages, result.verbatim, conversation="quay")
    assert back.messages == messages
    return result


# pieces


@given(runs())
def test_the_pieces_of_a_text_tile_it(messages: Conversation) -> None:
    texts = read(load(messages), words)
    pieces = cut(texts)
    for number, text in enumerate(texts):
        spans = [(piece.start, piece.end) for piece in pieces if piece.text == number]
        assert "".join(text.text[start:end] for start, end in spans) == text.text
        assert all(start < end for start, end in spans)


def test_every_row_is_a_piece_and_the_first_one_is_like_the_others() -> None:
    messages = [
        {"role": "user", "content": "What is stored?"},
        *call(1, "query", {}, ledger(30)),
    ]
    texts = read(load(messages), words)
    pieces = [piece for piece in cut(texts) if texts[piece.text].heads]
    header, *rows = pieces
    assert len(rows) == 30
    assert all(piece.head == 2 for piece in rows), "below one header"
    text = texts[header.text].text
    assert [text[p.start : p.end].count("|") for p in rows] == [2] * 30


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "Output: {}",
        "<returncode>0</returncode>\n<output>\n{}\n</output>",
        "Some words before it.\n{}\nAnd after it.",
    ],
)
def test_records_are_known_where_they_are(around: str) -> None:
    messages = [
        {"role": "user", "content": "What is stored?"},
        *call(1, "query", {}, around.replace("{}", ledger(20))),
    ]
    text = read(load(messages), words)[-1].text
    assert text.count("|barrel ") == 20
    assert "returncode" not in text


def test_records_under_ids_are_rows_and_no_id_is_joined_to_a_name() -> None:
    records = {f"4471{n:02}": {"sort": f"oak {n}", "price": 3 * n} for n in range(9)}
    for with_id in (False, True):
        found = {k: {**v, "id": k} if with_id else v for k, v in records.items()}
        lines = respell(json.dumps({"name": "Trees", "stock": found}))
        assert lines is not None
        rows = [line.text.split("|") for line in lines if line.head >= 1]
        assert len(rows) == 9
        assert all(
            set(row) <= {k, *map(str, found[k].values())}
            for k, row in zip(found, rows, strict=True)
        )


def test_a_long_line_is_cut_between_its_sentences() -> None:
    sentences = [f"The clerk entered crate {n} and the tide was late as ever. " for n in range(40)]
    texts = read(load([*call(1, "read", {}, "".join(sentences))]), words)
    pieces = [texts[p.text].text[p.start : p.end] for p in cut(texts) if p.text == len(texts) - 1]
    assert all(piece.startswith("The clerk") and piece.endswith("ever. ") for piece in pieces[:-1])
    assert len(pieces) > 10


@pytest.mark.parametrize("line", ["}", "```json", "  549→", "-----", "  }, {", "    12|  }", ""])
def test_what_has_no_words_is_no_reason_to_be_shown(line: str) -> None:
    body = f"{'the harbour master counts barrels ' * 9}\n{line}\n{'and the ships too ' * 30}"
    texts = read(load([*call(1, "read", {}, body)]), words)
    grades = {texts[p.text].text[p.start : p.end].strip("\n"): p.grade for p in cut(texts)}
    assert grades.get(line, Grade.EMPTY) is Grade.EMPTY
    assert Grade.PLAIN in grades.values()


def test_what_was_cut_off_is_read_as_far_as_it_goes() -> None:
    lines = respell(ledger(20)[:-30])
    assert lines is not None
    assert sum("|barrel " in line.text for line in lines) >= 18


@given(st.text('[]{}:,"ab1\\n ', max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    lines = respell(text)
    assert lines is None or sum(len(line.text) + 1 for line in lines) < len(text) + 1


def test_worths_are_whole_numbers() -> None:
    messages = [{"role": "user", "content": "Read it."}, *call(1, "read", {}, source_code(1))]
    texts = read(load(messages), words)
    index = Index()
    index.add(texts, cut(texts))
    assert {type(worth) for worth in rate(index, texts, 0.3)} == {int}


def test_lines_are_known_by_what_they_say() -> None:
    output = "tests/test_a.py::test_a PASSED\n" * 9 + "FAILED tests/test_b.py::test_b - boom\n"
    messages = [{"role": "user", "content": "Run it."}, *call(1, "run", {}, output)]
    texts = read(load(messages), words)
    grades = [piece.grade for piece in cut(texts) if piece.text == len(texts) - 1]
    assert grades[-1] is Grade.FAILED
    assert set(grades[:-1]) == {Grade.NOISE}


# what comes first


@pytest.mark.parametrize("named", [0, 2])
@pytest.mark.parametrize("row", [0, 17, 39])
def test_what_is_asked_is_shown_however_often_it_was_named(named: int, row: int) -> None:
    messages: Conversation = [
        {"role": "user", "content": "Read what is stored."},
        *call(1, "query", {"quay": "north"}, ledger(40)),
        *call(2, "query", {"quay": "south"}, ledger(40, 100)),
    ]
    for _ in range(named):
        messages += [
            {"role": "assistant", "content": f"I heard of K-{row} before."},
            {"role": "user", "content": "Go on."},
        ]
    messages += [
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": f"What is in K-{row}?"},
    ]
    view = shown(fold(messages, 0.25))
    assert f"K-{row}|barrel {row * 7919 % 9973}|" in view
    assert "id|cargo|state" in view


def test_what_is_asked_comes_before_turns_in_their_place() -> None:
    sentences = [
        f"The clerk entered the crate {n * 37 % 61} under K-{1000 + n} at {n * 7919 % 9973} crowns."
        for n in range(12)
    ]
    talk = [{"role": "user", "content": "Anything new?"}, {"role": "assistant", "content": "No."}]
    messages: Conversation = [
        {"role": "user", "content": "Read the report."},
        *call(1, "read_report", {"page": 1}, "\n\n".join(sentences)),
        *talk * 6,
        {"role": "user", "content": "What was written down for K-1004?"},
    ]
    assert sentences[4] in shown(fold(messages, 0.27))


def test_what_the_agent_says_and_calls_may_be_items_of_their_own() -> None:
    sentences = [
        f"The clerk entered the crate {n * 37 % 61} under K-{1000 + n} at {n * 7919 % 9973} crowns."
        for n in range(12)
    ]
    messages: Conversation = [
        {"role": "user", "content": "Read the report."},
        *call(1, "read_report", {"page": 1}, "\n\n".join(sentences)),
        {"role": "assistant", "content": "Now the number of K-1004. First the time."},
        *call(2, "current_time", {}, "10:42"),
    ]
    for share in (0.3, 0.5):
        assert sentences[4] in shown(fold(messages, share))
    assert "10:42" in shown(fold(messages, 0.12)), "a mark alone would take as much"


def test_the_best_answer_may_take_half_of_the_room_with_its_body() -> None:
    functions = [
        f'def fee_{n}(days):\n    """Fee of the {color} barrel."""\n'
        + "".join(f"    days += {n * 10 + line}\n" for line in range(12))
        + f"    return days * {n * 7919}\n"
        for n, color in enumerate(("amber", "cedar", "linen", "quartz", "walnut", "wicker"), 1)
    ]
    messages: Conversation = [
        {"role": "user", "content": "Read the fees."},
        *call(1, "read_file", {"path": "fees.py"}, "\n\n".join(functions)),
        *call(2, "find_fee", {"cargo": "linen barrel"}, "")[:1],
    ]
    assert f"return days * {3 * 7919}" in shown(fold(messages, 0.32))


def test_the_newest_result_is_whole_while_anything_older_can_go() -> None:
    messages: Conversation = [{"role": "user", "content": "Fix the queue."}]
    for n in range(8):
        messages += call(n, "read", {"path": f"m{n}.py"}, source_code(n))
    assert fold(messages, 0.3).messages[-1] == messages[-1]


@pytest.mark.parametrize(("tool", "is_kept"), [("find_cargo", False), ("read", True)])
def test_the_newest_data_is_complete_in_the_shorter_spelling(tool: str, *, is_kept: bool) -> None:
    """What was read of a file keeps its own spelling: the agent may edit it."""
    messages: Conversation = [{"role": "user", "content": "Find the barrels."}]
    for n in range(6):
        messages += call(n, tool, {"path": f"hold{n}.json"}, ledger(12, 12 * n))
    newest = fold(messages, 0.35).messages[-1]
    assert (newest == messages[-1]) is is_kept
    assert all(f"K-{n}" in newest["content"] for n in range(60, 72))


def test_what_people_forbid_stays() -> None:
    messages: Conversation = [{"role": "user", "content": "Tidy up the harbour books."}]
    for n in range(12):
        messages += call(n, "read", {"path": f"m{n}.py"}, source_code(n))
        messages.append({"role": "user", "content": f"Fine, page {n} reads well so far, thanks."})
    messages[4:4] = [{"role": "user", "content": "But never touch the ledger of 1907, please."}]
    assert "never touch the ledger of 1907" in shown(fold(messages, 0.15))


def test_a_long_task_keeps_how_it_begins_and_what_it_forbids() -> None:
    middle = " ".join(f"Then weigh barrel {n} and write it down." for n in range(60))
    task = f"Weigh all barrels of the north quay. {middle} Do not open any of them."
    messages: Conversation = [{"role": "user", "content": task}]
    for n in range(4):
        messages += call(n, "read", {"path": f"m{n}.py"}, source_code(n))
    view = shown(fold(messages, 0.3))
    assert "Weigh all barrels of the north quay." in view
    assert "Do not open any of them." in view


def test_the_newest_plan_is_whole() -> None:
    plan = {"todos": [{"content": f"Paint boat {n} " + "blue " * 20, "id": n} for n in range(4)]}
    messages: Conversation = [
        {"role": "user", "content": "Paint the boats."},
        *call(0, "TodoWrite", plan, "noted"),
    ]
    for n in range(1, 9):
        messages += call(n, "read", {"path": f"m{n}.py"}, source_code(n))
    view = shown(fold(messages, 0.5))
    assert all(f"Paint boat {n}" in view for n in range(4))


# promises


@given(runs(), st.integers(1, 12))
def test_a_smaller_budget_never_gives_a_longer_view(messages: Conversation, steps: int) -> None:
    whole = compress(messages, counter=words, token_budget=10**9).tokens_before
    sizes = []
    for step in range(1, steps + 1):
        result = compress(
            messages, counter=words, token_budget=whole * step // (steps + 1), conversation="quay"
        )
        if result.fits:
            sizes.append((result.budget.token_budget if result.budget else 0, result.tokens_after))
    assert all(size <= budget for budget, size in sizes)


@given(runs())
def test_the_same_input_gives_the_same_bytes(messages: Conversation) -> None:
    views = [shown(compress(messages, token_budget=200, conversation="quay")) for _ in range(2)]
    assert views[0] == views[1]


def test_a_digest_keeps_speakers_apart() -> None:
    messages: Conversation = [{"role": "user", "content": "Count the gulls."}]
    for n in range(10):
        messages += [
            {"role": "user", "content": f"There are {n + 40} at pier {n}."},
            {"role": "assistant", "content": f"Pier {n} has {n + 40} gulls, I wrote it down."},
            *call(n, "note", {"pier": n}, source_code(n)),
        ]
    digest = next(
        str(m["content"])
        for m in fold(messages, 0.3).messages
        if "messages, shortened #" in str(m["content"])
    )
    for line in digest.split("\n"):
        if line.startswith("There are"):
            pytest.fail("words of the user without their speaker")


def test_what_stands_in_the_question_is_not_shown_a_second_time() -> None:
    report = "\n".join(f"the pump of dock {n} stopped at noon, says {n * 37}" for n in range(12))
    messages: Conversation = [
        {"role": "user", "content": "Mend the pumps."},
        {"role": "user", "content": f"It still fails:\n{report}"},
        *call(1, "read", {"path": "pump.py"}, source_code(1)),
        {"role": "assistant", "content": "Try it again. " * 30},
        {"role": "user", "content": f"And again:\n{report}"},
    ]
    assert shown(fold(messages, 0.5)).count("the pump of dock 7 stopped") == 1


def test_an_answer_that_stands_in_place_is_not_shown_a_second_time() -> None:
    line = "the tariff for amber barrels at pier nine is settled by the harbour master " * 3
    rows = "".join(f"row {n} counts {n * 7} crates of {n % 5} kinds\n" for n in range(300))
    messages = [
        {"role": "user", "content": "Look into it."},
        *call(1, "read", {"path": "old.txt"}, f"{rows}{line}\n{rows}"),
        *call(2, "read", {"path": "amber tariff pier nine"}, f"{line}\nend of note\n"),
    ]
    assert shown(fold(messages, 0.2)).count(line) == 1


def test_the_task_stays_whole_for_half_of_the_room_if_nothing_else_was_said() -> None:
    task = " ".join(f"Step {n}: mend pump {n}, and write down what it cost." for n in range(12))
    messages: Conversation = [{"role": "user", "content": task}]
    for n in range(8):
        messages += call(n, "read", {"path": f"m{n}.py"}, source_code(n))
    tokens = compress(messages, counter=words, token_budget=10**9).tokens_before
    share = 2.2 * words(task) / tokens
    assert fold(messages, share).messages[0] == messages[0]


def test_a_long_argument_that_begins_with_a_blank_line_is_named_by_its_first_words() -> None:
    command = "\ncat > pump.py << EOF\n" + source_code(1)
    message = call(1, "bash", {"command": command}, "")[:1]
    assert read(load(message), words)[0].text.startswith("bash command: cat > pump.py")


def test_results_beside_words_stay_if_a_pattern_keeps_them() -> None:
    report = {"type": "tool_result", "tool_use_id": "t1", "content": "barrel 41 leaks. " * 40}
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    messages: Conversation = [
        {"role": "user", "content": "Count the barrels. " * 60},
        {"role": "assistant", "content": [{"type": "text", "text": "I do. " * 60}, use]},
        {"role": "user", "content": [report, {"type": "text", "text": "Which one is it?"}]},
    ]
    result = compress(messages, counter=words, token_budget=190, preserve_patterns=["barrel 41"])
    assert result.messages[-1] == messages[-1]


def test_what_a_harness_says_is_known_to_the_end_of_its_line() -> None:
    said = "Tokens: 4,216 sent, 662 received. Cost: $0.02 request, $0.02 session.\nget not post"
    texts = read(load([{"role": "user", "content": said}]), words)
    grades = {said[p.start : p.end].split(maxsplit=1)[0]: p.grade for p in cut(texts)}
    assert grades.get("Cost:", Grade.NOISE) is Grade.NOISE
    assert grades["get"] is Grade.PLAIN
