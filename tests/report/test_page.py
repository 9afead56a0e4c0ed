"""The page is one file that nothing in a conversation can break out of."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from refold import ConfigError
from refold.report import render
from refold.report.data import encode
from tests.browser.payloads import PAYLOADS


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
        assert json.loads(made.data)["messages"][0]["texts"] == [payload]


def test_nothing_is_fetched() -> None:
    page = render(chat("hello"))
    assert read(page).addresses == ["#list"]
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]


def test_data_is_ascii_without_what_could_end_it() -> None:
    spelled = encode({"text": "</script><!--&\u2028\ud800é"})
    assert spelled.isascii()
    assert not set("<>&") & set(spelled)
    assert json.loads(spelled)["text"] == "</script><!--&\u2028\ud800é"


def test_the_page_can_always_be_written() -> None:
    render(chat("\ud800"), title="\ud800").encode()


def test_the_same_conversation_gives_the_same_page() -> None:
    assert render(chat("hello")) == render(chat("hello"))


def test_options_are_those_of_compress() -> None:
    with pytest.raises(ConfigError):
        render(chat("hello"), recency_windw=3)
    assert '"profile":"lossless"' in render(chat("hello"), profile="lossless")


def test_no_script_makes_markup_from_text() -> None:
    script = render([]).partition('<script type="module">')[2]
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in script
