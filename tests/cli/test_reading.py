"""One way to read a conversation: packed or not, from a file or a pipe; and completion."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Refold
from tests.cli.session import chat, claude_code, jsonl

LOOKS = ("show", "explain", "diff", "stats", "count", "report")


def pack(data: bytes, how: str) -> bytes:
    if how == "gz":
        return gzip.compress(data)
    if how == "zst":
        zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
        return bytes(zstandard.ZstdCompressor().compress(data))
    return data


@pytest.mark.parametrize("data", [jsonl(chat()), json.dumps(chat()).encode(), claude_code()])
def test_packed_files_are_read_like_others(refold: Refold, data: bytes) -> None:
    packed = {"a": data, "gz": pack(data, "gz"), "zst": pack(data, "zst")}
    for name, content in packed.items():
        Path(name).write_bytes(content)
    for look in LOOKS:
        more = ("-o", "-", "--title", "Conversation") if look == "report" else ()
        plain = refold(look, "-", *more, stdin=data)
        assert plain.code == 0, plain.err
        assert refold(look, "a", *more).out == plain.out
        assert refold(look, "-", *more, stdin=packed["gz"]).out == plain.out
        assert refold(look, "zst", *more).out == plain.out
    for name in packed:
        assert refold("compress", name, "-o", "b", "--budget", "50%").code == 0
        assert refold("uncompress", "b").out == data
        Path("b.refold.db").unlink()


@pytest.mark.parametrize("how", ["gz", "zst"])
def test_what_is_written_is_packed_if_its_name_says_so(refold: Refold, how: str) -> None:
    data = jsonl(chat())
    packed = pack(data, how)
    Path(f"a.{how}").write_bytes(packed)
    assert refold("compress", f"a.{how}", "-o", f"b.{how}", "--budget", "50%").code == 0
    assert Path(f"b.{how}").read_bytes()[:2] == packed[:2]
    assert refold("uncompress", f"b.{how}", "-o", f"c.{how}").code == 0
    assert refold("uncompress", f"b.{how}").out == data
    assert (
        refold("count", f"c.{how}", "--json").out == refold("count", "-", "--json", stdin=data).out
    )


def test_zstd_in_several_frames_is_read_whole_and_a_damaged_one_is_named(refold: Refold) -> None:
    data = jsonl(chat())
    half = data.index(b"\n", len(data) // 2) + 1
    Path("a.zst").write_bytes(pack(data[:half], "zst") + pack(data[half:], "zst"))
    assert refold("show", "a.zst").out == refold("show", "-", stdin=data).out
    Path("a.zst").write_bytes(pack(data, "zst")[:4] + b"damaged")
    done = refold("show", "a.zst")
    assert done.code == 1
    assert "a.zst: it is packed by zstd and damaged" in done.err


def test_a_file_edited_after_the_fold_comes_back_as_valid_messages(refold: Refold) -> None:
    messages = [{"id": f"i{n}", **message} for n, message in enumerate(chat())]
    Path("a.jsonl").write_bytes(jsonl(messages, separators=(" , ", ":")))
    refold("compress", "a.jsonl", "-o", "b.jsonl")
    more = jsonl([{"id": "z", "role": "user", "content": "One more."}])
    Path("b.jsonl").write_bytes(Path("b.jsonl").read_bytes() + more)
    assert refold("uncompress", "b.jsonl").out == Path("a.jsonl").read_bytes() + more


@pytest.mark.skipif(os.name == "nt", reason="there are no such shells")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands(shell: str) -> None:
    words = {"COMP_WORDS": "refold unc", "COMP_CWORD": "1" if shell != "fish" else "unc"}
    environment = {**os.environ, "_REFOLD_COMPLETE": f"{shell}_complete", **words}
    run = [sys.executable, "-m", "refold"]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert "uncompress" in done.stdout
    environment["_REFOLD_COMPLETE"] = f"{shell}_source"
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert "_REFOLD_COMPLETE" in done.stdout
