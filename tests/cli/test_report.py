"""`refold report` writes one page and says where."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Refold
from tests.cli.session import chat, claude_code, jsonl
from tests.report.pages import unpack
from tests.report.test_page import read


def test_a_page_beside_you(refold: Refold) -> None:
    Path("deep").mkdir()
    Path("deep/s.jsonl").write_bytes(claude_code())
    done = refold("report", "deep/s.jsonl")
    assert done.code == 0
    assert done.out == b""
    assert done.err == "s.jsonl.report.html: open it in a browser\n"
    page = Path("s.jsonl.report.html").read_text(encoding="utf-8")
    assert "<title>s.jsonl · refold</title>" in page
    assert "harbour" in str(unpack(read(page).data))


def test_a_page_where_you_say(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(jsonl(chat()))
    done = refold("report", "a.jsonl", "-o", "r.html", "--title", "A <talk>", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "<h1>A &lt;talk&gt;</h1>" in Path("r.html").read_text(encoding="utf-8")
    for source, stdin in (("a.jsonl", b""), ("-", jsonl(chat()))):
        out = refold("report", source, "-o", "-", stdin=stdin).out
        assert out.startswith(b"<!doctype html>")
    assert refold("report", "-", stdin=jsonl(chat())).out.startswith(b"<!doctype html>")


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
def test_who_cannot_read_the_session_cannot_read_the_page(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(jsonl(chat()))
    Path("a.jsonl").chmod(0o600)
    refold("report", "a.jsonl", "-o", "r.html")
    assert Path("r.html").stat().st_mode & 0o777 == 0o600


def test_originals_are_left_alone(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(jsonl(chat(12)))
    refold("compress", "a.jsonl", "-o", "b.jsonl", "--budget", "50%")
    before = Path("b.jsonl.refold.db").read_bytes()
    assert refold("report", "b.jsonl").code == 0
    assert Path("b.jsonl.refold.db").read_bytes() == before
    assert refold("report", "b.jsonl", "-o", "b.jsonl.refold.db").code == 2


def test_a_file_that_is_none(refold: Refold) -> None:
    assert "no such file" in refold("report", "nowhere.jsonl").err
    done = refold("report", "-", stdin=b'[{"role": "user", "content": 7}]')
    assert done.code == 1
    assert "line 1" in done.err
