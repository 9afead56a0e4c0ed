"""What a proxy has sent folded can be fetched by the handle alone."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from refold import ConfigError, Session, SqliteStore
from refold.messages.wire import digest
from refold.server.mcp import Tools
from refold.server.originals import enter_fold, enter_shown, find_shown
from refold.stores import MemoryStore
from tests.server.outputs import ERROR, log


def conversation() -> list[dict[str, Any]]:
    """Two logs are read; the handle of the second is short."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "What went wrong?"}]
    for n, text in enumerate([log(error=False), log()]):
        call = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": "cat log"}}
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": text}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [result]})
    return messages


def test_a_short_handle_leads_to_what_was_sent_folded(tmp_path: Path) -> None:
    path = tmp_path / "refold.db"
    with SqliteStore(path) as store:
        session = Session(store=store)
        session.extend(conversation()[:3])
        session.view()
        session.extend(conversation()[3:])
        folded = session.view()[-1]
        shown = folded["content"][0]["content"].split("\n")[0]
        handle = shown[shown.index("#") :].rstrip("]")
        assert len(handle) < 10
        with (
            closing(Tools(path)) as tools,
            pytest.raises(ConfigError, match="there is no original"),
        ):
            tools.retrieve({"handle": handle})
        enter_shown(store, folded, conversation()[-1])
    with closing(Tools(path)) as tools:
        for spelled in (handle, handle[1:], shown):
            assert ERROR in tools.retrieve({"handle": spelled, "lines": "100-"})


def test_a_short_handle_leads_to_a_fold_of_several_messages(tmp_path: Path) -> None:
    path = tmp_path / "refold.db"
    with SqliteStore(path) as store:
        session = Session(store=store, token_budget=2_000)
        session.extend([*conversation(), {"role": "user", "content": "And now?"}])
        session.refold(400)
        rows = session.trace()["view"]["items"]
        place = next(n for n, row in enumerate(rows) if row[1] - row[0] > 1)
        enter_fold(
            store, {"role": "user", "content": "[2 messages, shortened #abcde]"}, rows[place][-1]
        )
    with closing(Tools(path)) as tools:
        assert "cat log" in tools.retrieve({"handle": "#abcde"})


def test_originals_that_share_a_handle_are_all_found() -> None:
    store = MemoryStore()
    originals = [{"role": "user", "content": f"{n}"} for n in range(50)]
    store.put({digest(original): original for original in originals})
    for original in [*originals, *originals]:  # what is entered again is entered once
        enter_shown(store, {"role": "user", "content": "[shortened #abcde]"}, original)
    assert [found["content"] for found in find_shown(store, "#abcde")] == ["0", "1", "2", "3"]
    assert find_shown(store, "#abcdf") == []
