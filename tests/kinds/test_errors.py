"""Trouble is found in every kind of text, once, and what only talks about it is left alone."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest
from tests.pieces import pieces_of

from refold.kinds import KINDS, kind_of, split
from refold.kinds._error_patterns import ANY_NEEDLE, FOREIGN_NEEDLES, NEEDLES

NAMES = [kind.name for kind in KINDS]


def musts(text: str, kind: str) -> list[str]:
    return [text[piece.start : piece.end].rstrip() for piece in pieces_of(text, kind) if piece.must]


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(
    "line",
    [
        "Error: order 8812 was lost",
        "error: no rule to make target",
        "ValueError: 3 is not a tea",
        "shop.errors.EmptyError: no items",
        "fatal: not a git repository",
        "panic: runtime error: index out of range",
        "Exit code 1",
        "exit status 2",
        "returncode: 2",
        "<returncode>1</returncode>",
        "Process exited with code 137",
        "FAILED tests/test_cart.py::test_total",
        "--- FAIL: TestTotal (0.00s)",
        "bash: shopp: command not found",
        "cat: rates.csv: No such file or directory",
        "warning: 3 rates are old",
        "npm ERR! code ELIFECYCLE",
        "thread 'main' panicked at src/main.rs:4:10:",
    ],
)
def test_trouble_is_found_in_every_kind(kind: str, line: str) -> None:
    filler = "some words that are long enough to be a piece of their own, so nothing is glued to it"
    text = f"{filler}\n{line}\n{filler}\n"
    assert any(line in must for must in musts(text, kind))


@pytest.mark.parametrize("kind", NAMES)
def test_a_trace_is_followed_in_every_kind(kind: str) -> None:
    text = (
        "before\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/shop.py", line 3, in main\n'
        "    serve()\n"
        '  File "/srv/lib/python3.12/site-packages/web.py", line 9, in serve\n'
        "    loop()\n"
        "KeyError: 'rates'\n"
        "after\n"
    )
    kept = "\n".join(musts(text, kind))
    assert "Traceback" in kept
    assert '"/srv/shop.py", line 3' in kept
    assert "KeyError: 'rates'" in kept
    assert "site-packages" not in kept


@pytest.mark.parametrize(
    "line",
    [
        "    except ValueError:",
        '    raise ValueError("error: no rates")',
        "  error: string;",
        "class ParseError(Exception):",
        'log.error("failed: %s", reason)',
        "The word error is not an error, and a warning is only a word.",
        "src/errors/fatal.py",
        "There were 0 errors and 0 warnings.",
        "Exit code 0",
        "exit status 0",
        "<returncode>0</returncode>",
        "test_error_is_raised ... ok",
        "PASSED tests/test_errors.py::test_failed_login",
        '{"error": null, "exit_code": 0, "errors": []}',
        "if (error) return error;",
        "    case 'warning':",
    ],
)
def test_talk_about_trouble_is_not_trouble(line: str) -> None:
    for kind in NAMES:
        assert musts(f"first\n{line}\nlast\n", kind) == [], kind


def times(text: str, kind: str) -> list[int]:
    return [grade.times for grade in split(text, kind).grades if grade.must]


def test_only_the_first_of_equal_errors_is_a_must_and_says_how_many_there_are() -> None:
    text = "error: disk full\n" * 50
    for kind in NAMES:
        assert len(musts(text, kind)) == 1, kind
        assert times(text, kind) == [50], kind


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("log", "2026-03-01 10:00:{n:02} ERROR order {n} timed out"),
        ("build_output", "a.c:{n}:1: warning: unused variable v{n}"),
        ("prose", "Error: order {n} was lost"),
    ],
)
def test_errors_that_differ_in_numbers_repeat_each_other(kind: str, line: str) -> None:
    text = "".join(line.format(n=n) + "\n" for n in range(60))
    assert kind_of(text) == kind
    assert len(musts(text, kind)) == 1
    assert times(text, kind) == [60]


def test_exits_that_differ_in_numbers_do_not_repeat_each_other() -> None:
    text = "first\nExit code 1\nsecond\nExit code 2\nthird\nExit code 1\n"
    assert musts(text, "prose") == ["Exit code 1", "Exit code 2"]
    assert times(text, "prose") == [2, 1]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("log", "2026-03-01 10:00:01 ERROR order {word} timed out"),
        ("build_output", "a.c:3:1: error: no member named {word}"),
        ("build_output", "a.c:3:1: warning: unused variable {word}"),
        ("prose", "Error: order {word} was lost"),
    ],
)
def test_all_distinct_errors_are_musts_however_many_they_are(kind: str, line: str) -> None:
    words = ["".join(word) for word in product("abcdefgh", repeat=3)]
    text = "".join(line.format(word=word) + "\n" for word in words)
    kept = "\n".join(musts(text, kind))
    assert all(line.format(word=word) in kept for word in words)


@pytest.mark.parametrize(
    "field",
    [
        "error=timeout",
        'errorMessage="no answer"',
        "errors:[{code:7}]",
        "exception=KeyError",
        "status=failed",
        "level=ERROR",
        "severity=warning",
        "success:false",
        "exit_code:-1",
    ],
)
def test_trouble_is_found_in_json_that_was_spelled_plainly(field: str) -> None:
    rows = [f"{{id:{n} name=till_{n} state=open town=Harbourside}}\n" for n in range(9)]
    rows[4] = f"{{id:4 {field} state=open town=Harbourside}}\n"
    text = f"[\n{''.join(rows)}]"
    assert musts(text, kind_of(text)) == [rows[4].rstrip()]
    long = "{words=[" + "plain, " * 300 + f"end] {field} town=Harbourside}}"
    assert any(field in kept for kept in musts(long, kind_of(long)))


@pytest.mark.parametrize(
    "field",
    ["error:null", 'error=""', "errors:[]", "success:true", "exit_code:0", "status=ok", "level=7"],
)
def test_fields_that_tell_of_no_trouble_are_none(field: str) -> None:
    text = "[\n" + "".join(f"{{id:{n} {field} town=Harbourside}}\n" for n in range(9)) + "]"
    assert musts(text, kind_of(text)) == []


def rows_of(first: str, usual: str, *cells: str, before: str = "[") -> str:
    """Say records as rows: one for each of *cells*, among others that are as *usual*."""
    name = re.split("[:=]", first)[0]
    rows = [f"town {n}|{usual}|the till of house {n}" for n in range(8)]
    rows[4:4] = [f"Leeds|{cell}|the till at the gate" for cell in cells]
    head = f"{before}{{town=York {first} till=none}}\nrows of town|{name}|till:"
    return "\n".join((head, *rows, "]"))


@pytest.mark.parametrize("before", ["[", "JSON lines [", "{tills=[", "Some words\n["])
@pytest.mark.parametrize(
    ("first", "usual", "bad"),
    [
        ("status=paid", "paid", "failed"),
        ("level=info", "info", "ERROR"),
        ("level=info", '"3"', "warning"),
        ('error=""', '""', '"no | answer"'),
        ("error:null", "null", '"no \\" | answer"'),
        ('error=""', ":null", "no answer"),
        ("errors:0", "0", "3"),
        ("success:true", "true", "false"),
        ("exit_code:0", "0", "-1"),
        ("level:30", "30", "50"),
    ],
)
def test_trouble_is_found_in_the_cells_of_rows(
    before: str, first: str, usual: str, bad: str
) -> None:
    text = rows_of(first, usual, bad, before=before)
    assert musts(text, kind_of(text)) == [f"Leeds|{bad}|the till at the gate"]
    assert musts(rows_of(first, usual, before=before), kind_of(text)) == []


def test_only_the_cells_below_a_name_that_could_tell_are_looked_at() -> None:
    text = rows_of("mood=calm", "calm", "failed", "error", "false")
    assert musts(text, kind_of(text)) == []


def test_rows_that_tell_of_trouble_end_where_their_list_ends() -> None:
    text = rows_of("status=paid", "paid") + "\nLeeds|failed|after the list\nrows of name:\nYork\n]"
    assert musts(text, kind_of(text)) == []


def test_members_of_records_that_tell_the_same_error_are_counted() -> None:
    rows = [{"id": n, "error": f"no answer after {n} ms", "host": f"h{n}"} for n in range(30)]
    text = json.dumps(rows, indent=1)
    assert kind_of(text) == "json_records"
    assert times(text, "json_records") == [30]


def test_a_long_trace_is_followed_for_a_while_only() -> None:
    frames = "".join(f"    at step{n} (/srv/app/steps.js:{n}:1)\n" for n in range(500))
    text = f"Error: too deep\n{frames}"
    kept = "\n".join(musts(text, "stack_trace"))
    assert "step5 " in kept
    assert "step60 " not in kept


def test_many_failures_keep_all_names_but_not_all_bodies() -> None:
    blocks = "".join(
        f"____________ test_{n} ____________\n\n>       assert f({n})\nE       assert 0 == 1\n\n"
        for n in range(40)
    )
    names = "".join(f"FAILED tests/test_f.py::test_{n} - assert 0 == 1\n" for n in range(40))
    text = f"===== FAILURES =====\n{blocks}===== short test summary info =====\n{names}"
    kept = "\n".join(musts(text, "test_run"))
    assert all(f"::test_{n} " in kept for n in range(40))
    assert kept.count("E       assert 0 == 1") == 1
    assert len(kept) < 0.6 * len(text)


def test_only_the_part_of_a_long_line_that_tells_of_trouble_is_a_must() -> None:
    words = "plain words about tea, " * 60
    text = f"{words}srv/shop.c:10:2: error: no rates, {words}\n"
    (kept,) = musts(text, "build_output")
    assert "error: no rates" in kept
    assert len(kept) <= 221


def test_a_needle_after_a_letter_that_grows_in_lower_case_is_found_in_its_place() -> None:
    text = "İİİ\nsrv/shop.c:10:2: error: no rates\n"
    assert musts(text, "build_output") == ["srv/shop.c:10:2: error: no rates"]


@pytest.mark.parametrize(
    "line",
    [
        "curl: (7) Failed to connect to api.example.org port 443: Couldn't connect to server",
        "ssh: connect to host till port 22: Connection refused",
        "psql: could not connect to server: the till is closed",
        "./run.sh: line 12: 4311 Killed                  java -jar shop.jar",
        "Aborted (core dumped)",
        "E: Unable to locate package till",
        "CONFLICT (content): Merge conflict in till.py",
        "Automatic merge failed; fix conflicts and then commit the result.",
        "#41 3.412 npm ERR! code ERESOLVE",
        "nginx: [emerg] no port is left to listen on",
        "kernel: Out of memory: Killed process 4123 (java)",
        "TypeError [ERR_INVALID_ARG_TYPE]: The till must be a string",
        "Fehler: Die Kasse ist leer",
        "错误：没有零钱",
        "エラー: 釣り銭がありません",
        "Ошибка: касса пуста",
        "警告: 零钱不足",
    ],
)
def test_trouble_is_found_in_what_a_shell_printed(line: str) -> None:
    filler = "some words that are long enough to be a piece of their own, so nothing is glued to it"
    assert any(line in must for must in musts(f"{filler}\n{line}\n{filler}\n", "prose"))


@pytest.mark.parametrize(
    "line",
    [
        "test shop::till ... FAILED",
        "test_till (shop.tests) ... ERROR",
        "ValueError",
        "shop/till.c:3: undefined reference to `open_till'",
    ],
)
def test_trouble_is_found_before_a_carriage_return(line: str) -> None:
    text = f"first words\r\n{line}\r\nlast words\r\n"
    assert any(line in must for must in musts(text, "test_run"))


def test_a_search_for_places_and_columns_is_no_build() -> None:
    text = "".join(f"shop/till.c:{n}:5: open(till_{n})\n" for n in range(1, 90, 7))
    assert kind_of(text, "bash", '{"command": "rg --column open"}') == "search_hits"
    assert kind_of(text, "bash", '{"command": "make"}') == "build_output"


@pytest.mark.parametrize("needle", NEEDLES)
def test_no_needle_is_overlooked(needle: str) -> None:
    text = f"all was quiet\nthen {needle}and no more\n"
    assert (ANY_NEEDLE.search(text) is not None) is (needle not in FOREIGN_NEEDLES)
    assert ANY_NEEDLE.search(text.replace(needle, needle[:-1] + "~")) is None


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(
    "line",
    ["rows of ", "rows of the table were lost", "rows of status|took", "rows of status|took:"],
)
def test_a_line_that_reads_like_the_head_of_rows_is_a_line(kind: str, line: str) -> None:
    for text in (f"before\n{line}", f"before\n{line}\nafter\n", f"a\n{line}\n{line}\nfailed|1"):
        assert split(text, kind).ends[-1] == len(text)
