"""What goes in comes back byte for byte, whatever the file looks like."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refold import uncompress
from refold.cli.document import parse_document
from tests.cli.conftest import Refold
from tests.cli.session import chat, jsonl, odd_lines, prose, shapes

SHAPES = shapes()


@pytest.fixture(params=list(SHAPES))
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param)
    path.write_bytes(SHAPES[path.name])
    return path


few = pytest.mark.parametrize("file", list(SHAPES)[::4], indirect=True)
"""What goes on from a folded file does so in one way, whatever the file looks like."""


@pytest.mark.parametrize("window", [0, 4])
def test_through_a_sidecar(refold: Refold, file: Path, window: int) -> None:
    before = file.read_bytes()
    done = refold("compress", file, "-o", "small", "--set", f"recency_window={window}")
    assert (done.code, done.out) == (0, b"")
    assert "originals in small.refold.db" in done.err
    assert len(Path("small").read_bytes()) < len(before)
    assert refold("uncompress", "small").out == before
    assert file.read_bytes() == before


def test_through_one_json_document(refold: Refold, file: Path) -> None:
    before = file.read_bytes()
    folded = refold("compress", file, "--json")
    assert set(json.loads(folded.out)) == {"messages", "verbatim", "compression"}
    assert refold("uncompress", "-", stdin=folded.out).out == before


def test_two_rounds(refold: Refold, file: Path) -> None:
    before = file.read_bytes()
    common = ("--store", "all.db", "--quiet")
    assert refold("compress", file, "-o", "one", *common).code == 0
    assert refold("compress", "one", "-o", "two", *common, "--set", "recency_window=0").code == 0
    assert Path("two").read_bytes() != Path("one").read_bytes()
    assert refold("uncompress", "two", "--store", "all.db").out == before


@few
def test_rounds_that_interleave(refold: Refold, file: Path) -> None:
    """A stand-in of the first round may stand behind one of the second."""
    before = file.read_bytes()
    every = ("--store", "all.db", "--quiet", "--set", "recency_window=0", "--profile", "classic")
    assert refold("compress", file, "-o", "one", *every, "--set", "preserve=assistant").code == 0
    assert refold("compress", "one", "-o", "two", *every).code == 0
    assert refold("uncompress", "two", "--store", "all.db").out == before


def test_a_second_round_may_end_before_a_stand_in_of_the_first(refold: Refold) -> None:
    lines = ('{"role" : "user","content":"A"}\n', '{"role":  "assistant","content":"B"}\n')
    Path("a.jsonl").write_text("".join(lines).replace("A", prose("a")).replace("B", prose("b")))
    every = ("--store", "all.db", "--set", "recency_window=0", "--profile", "classic")
    refold("compress", "a.jsonl", "-o", "one", *every, "--set", "preserve=user")
    refold("compress", "one", "-o", "two", *every)
    assert refold("uncompress", "two", "--store", "all.db").out == Path("a.jsonl").read_bytes()


@few
def test_two_rounds_in_json_documents(refold: Refold, file: Path) -> None:
    before = file.read_bytes()
    one = refold("compress", file, "--json").out
    two = refold("compress", "-", "--set", "recency_window=0", stdin=one).out
    assert "verbatim" in json.loads(two)
    assert refold("uncompress", "-", stdin=two).out == before


@few
@pytest.mark.parametrize("place", [(), ("--store", "s.db")])
def test_from_a_store_into_one_json_document(
    refold: Refold, file: Path, place: tuple[str, ...]
) -> None:
    before = file.read_bytes()
    assert refold("compress", file, "-o", "one", *place).code == 0
    again = ("--json", "-o", "two", "--set", "recency_window=0")
    assert refold("compress", "one", *again, *place).code == 0
    assert refold("uncompress", "two").out == before
    document = json.loads(Path("two").read_bytes())
    back = uncompress(document["messages"], document["verbatim"])
    assert back.messages == parse_document(before.decode(), "").messages


@few
def test_from_one_json_document_into_a_store(refold: Refold, file: Path) -> None:
    refold("compress", file, "--json", "-o", "one")
    again = ("--store", "s.db", "--set", "recency_window=0")
    assert refold("compress", "one", "-o", "two", *again).code == 0
    assert refold("uncompress", "two", "--store", "s.db").out == file.read_bytes()


def test_in_place(refold: Refold, file: Path) -> None:
    before = file.read_bytes()
    assert refold("compress", file, "-o", file).code == 0
    assert file.read_bytes() != before
    assert refold("uncompress", file, "-o", file).code == 0
    assert file.read_bytes() == before


def test_a_file_that_grew_since(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(odd_lines() + b"\r\n")
    refold("compress", "a.jsonl", "-o", "small.jsonl", "--set", "recency_window=0")
    more = b'{"role":"user",  "content":"one more"}\n'
    with Path("small.jsonl").open("ab") as small:
        small.write(more)
    assert refold("uncompress", "small.jsonl").out == odd_lines() + b"\r\n" + more


def test_a_document_to_which_somebody_added_a_message(refold: Refold) -> None:
    messages = chat()
    Path("a.json").write_text(json.dumps(messages))
    document = json.loads(refold("compress", "a.json", "--json").out)
    document["messages"].append({"role": "user", "content": "one more"})
    back = refold("uncompress", "-", stdin=json.dumps(document).encode())
    assert json.loads(back.out) == [*messages, {"role": "user", "content": "one more"}]


def test_a_document_made_in_python(refold: Refold) -> None:
    document = json.loads(refold("compress", "-", "--json", stdin=jsonl(chat())).out)
    del document["verbatim"]["refold:file"]
    back = refold("uncompress", "-", stdin=json.dumps(document).encode())
    assert json.loads(back.out) == chat()


def test_untouched_lines_keep_their_bytes(refold: Refold) -> None:
    odd = b'{"role":  "system", "content":"\\u0041 \\/ plain",  "x":1e5}'
    Path("a.jsonl").write_bytes(odd + b"\n" + jsonl(chat()))
    refold("compress", "a.jsonl", "-o", "b.jsonl")
    assert Path("b.jsonl").read_bytes().splitlines()[0] == odd


def test_other_keys_of_a_request_stay(refold: Refold) -> None:
    body = {"model": "m", "messages": chat(), "temperature": 1.0}
    Path("a.json").write_text(json.dumps(body, indent=2))
    refold("compress", "a.json", "-o", "b.json")
    folded = json.loads(Path("b.json").read_text())
    assert list(folded) == ["model", "messages", "temperature"]
    assert folded["messages"] != body["messages"]


def test_two_spellings_in_one_store_are_refused_not_mixed_up(refold: Refold) -> None:
    rules = ("--profile", "classic")
    text = json.dumps(prose("harbour"))
    rest = jsonl(chat())
    spellings = {
        "a": '{"role": "user",  "content": TEXT}',
        "b": '{"role" :"user", "content": TEXT}',
    }
    for name, line in spellings.items():
        Path(name).write_bytes(line.replace("TEXT", text).encode() + b"\n" + rest)
    assert refold("compress", "a", "-o", "x", "--store", "s.db", *rules).code == 0
    assert refold("compress", "a", "-o", "x", "--store", "s.db", *rules).code == 0
    second = refold("compress", "b", "-o", "y", "--store", "s.db", *rules)
    assert second.code == 1
    assert "another spelling" in second.err
    assert not Path("y").exists()
    assert refold("uncompress", "x", "--store", "s.db").out == Path("a").read_bytes()


def test_nothing_to_fold_still_comes_back(refold: Refold) -> None:
    data = b'[{"role": "user", "content": "[summary: not one of ours]"}]'
    Path("a.json").write_bytes(data)
    done = refold("compress", "a.json", "-o", "b.json")
    assert "nothing to fold" in done.err
    assert refold("uncompress", "b.json").out == data


@pytest.mark.parametrize("data", [b"[]", b'{"messages": []}', b" [ ] \n"])
def test_an_empty_conversation(refold: Refold, data: bytes) -> None:
    folded = refold("compress", "-", "--json", stdin=data)
    assert folded.code == 0
    assert refold("uncompress", "-", stdin=folded.out).out == data
