"""The page is one file that nothing in a conversation can break out of."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from refold import ConfigError
from refold.report import render
from refold.report.data import pack
from tests.browser.payloads import PAYLOADS
from tests.plan.runs import call
from tests.report.pages import unpack


class Reader(HTMLParser):
    """Notes the elements of a page, the data in it, and where anything could be fetched from."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.data = ""
        self._is_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        self.addresses += [str(given[n]) for n in ("src", "href", "action") if n in given]
        self._is_data = given.get("id") == "data"

    def handle_endtag(self, tag: str) -> None:
        self._is_data = False

    def handle_data(self, data: str) -> None:
        if self._is_data:
            self.data += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def chat(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}, {"role": text or "user", "content": "fine"}]


def test_payloads_add_no_element_and_come_back_letter_for_letter() -> None:
    plain = read(render(chat("harmless"), title="harmless", steps=[100, 50]))
    for payload in PAYLOADS:
        made = read(render(chat(payload), title=payload, steps=[100, 50]))
        assert made.tags == plain.tags, payload
        assert unpack(made.data)["messages"][0]["texts"] == [payload]


def test_nothing_is_fetched() -> None:
    page = render(chat("hello"))
    assert read(page).addresses == ["#view"]
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]


def test_data_has_nothing_that_could_end_it() -> None:
    text = "</script><!--&\u2028\ud800é"
    rows = [{"a": "excerpted", "x": [{"o": text, "c": "cut"}, {}]}]
    step = {"rows": rows, "view": [{"i": 0, "x": [text, ""]}, {"i": 0}]}
    data = {"messages": [{"texts": [text]}], "steps": [step]}
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", pack(data))
    assert unpack(pack(data)) == data


@pytest.mark.campaign
def test_a_page_is_not_much_larger_than_its_conversation() -> None:
    messages = [{"role": "user", "content": "Fix the queue. 請修理佇列。"}]
    for n in range(100):
        text = "".join(f"{n}:{m}\t{hash((n, m)) % 10**12} 佇列 <queue>\n" for m in range(300))
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, text)
    size = len(json.dumps(messages, ensure_ascii=False).encode())
    assert size > 1_000_000
    assert len(render(messages).encode()) <= 1.5 * size


def test_the_page_can_always_be_written() -> None:
    render(chat("\ud800"), title="\ud800").encode()


def test_the_same_conversation_gives_the_same_page() -> None:
    assert render(chat("hello")) == render(chat("hello"))


def test_options_are_those_of_compress() -> None:
    with pytest.raises(ConfigError):
        render(chat("hello"), recency_windw=3)
    assert unpack(read(render(chat("hello"), profile="lossless")).data)["profile"] == "lossless"


def test_no_script_makes_markup_from_text() -> None:
    script = render([]).partition('<script type="module">')[2]
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in script
