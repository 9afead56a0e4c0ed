"""The report in a real browser: it loads, filters, searches, shows, and is nobody's fool."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from refold import compress
from refold.cli.demo import SESSION
from tests.browser.conftest import ROOT, Visit, Visitor
from tests.browser.payloads import PAYLOADS
from tests.plan.runs import call, source_code

pytest.importorskip("playwright.sync_api", reason="make test-browser installs it")

LIMIT_SECONDS = 3.0
MANY = 5_000


def both(visited: Visit) -> Visit:
    """Turn from the conversation as the model reads it to its messages before and after."""
    visited.page.click("#tab-panes")
    return visited


def demo() -> list[dict[str, Any]]:
    text = (ROOT / "src/refold/cli" / SESSION).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def count_shown(visited: Visit) -> int:
    found = re.match(r"[\d,]+", visited.text("#shown"))
    assert found is not None
    return int(found[0].replace(",", ""))


def test_it_shows_the_conversation_and_its_totals(visit: Visitor) -> None:
    visited = visit(demo(), title="A coding agent repairs a payment webhook")
    assert visited.text("h1") == "A coding agent repairs a payment webhook"
    assert 0 < count_shown(visited) < 61, "the folded conversation comes first"
    visited.shoot("view")
    visited.press("v")
    assert count_shown(visited) == 61
    before, after = (int(visited.text(f"#{n}").replace(",", "")) for n in ("before", "after"))
    assert 0 < after < before
    assert "$" in visited.text("#cost")
    visited.page.locator("#list").focus()
    visited.press(*["ArrowDown"] * 9)
    visited.shoot("light")


def test_filters_narrow_the_list_and_clear_widens_it(visit: Visitor) -> None:
    visited = both(visit(demo()))
    for select in ("role", "kind", "tool", "decision"):
        values = visited.page.eval_on_selector_all(
            f"#{select} option", "options => options.map((one) => one.value)"
        )
        assert len(values) > 2, select
        visited.page.select_option(f"#{select}", values[1])
        assert 0 < count_shown(visited) < 61, select
        visited.page.click("#clear")
        visited.wait_for("#shown", "^61 messages")
        assert count_shown(visited) == 61


def test_search_finds_text_and_marks_it(visit: Visitor) -> None:
    visited = both(visit(demo()))
    visited.page.fill("#search", "COMPARE_DIGEST")
    visited.wait_for("#shown", "^[1-9] of")
    assert "compare_digest" in visited.text("#detail")
    assert visited.page.evaluate("CSS.highlights.get('found').size") > 0
    visited.page.fill("#search", "nobody says this")
    visited.wait_for("#shown", "^0 of")
    assert "No message matches." in visited.text("#detail")


def test_an_empty_conversation_says_so(visit: Visitor) -> None:
    visited = both(visit([]))
    assert visited.text("#shown") == "0 messages"
    assert "This conversation has no messages." in visited.text("#detail")
    assert visited.text("#saved") == "0.0 %"


def test_calls_of_a_digested_message_stand_with_its_original(visit: Visitor) -> None:
    visited = both(visit(demo()))
    visited.page.click("#row-8")
    [left, right] = visited.page.query_selector_all("#detail .side")
    assert "send_confirmation|confirmed_at" in left.query_selector("pre.call").text_content()
    assert right.query_selector("pre.call") is None


def test_a_diff_strikes_what_was_dropped_and_marks_what_was_kept(visit: Visitor) -> None:
    visited = both(visit(demo()))
    visited.page.click("#row-5")
    [left, right] = visited.page.query_selector_all("#detail .side")
    message = demo()[5]["content"]
    assert left.query_selector("pre").text_content() == message
    kept = [one.text_content().strip() for one in left.query_selector_all("mark")]
    gone = "".join(one.text_content() for one in left.query_selector_all("del"))
    assert kept
    assert gone
    folded = right.query_selector("pre").text_content()
    assert all(sentence in folded for text in kept for sentence in text.split("\n\n"))
    assert visited.page.eval_on_selector(
        "#detail del", "e => getComputedStyle(e).textDecorationLine"
    ) == ("line-through")
    assert "dropped" in visited.text("#detail .why")
    visited.page.click("#detail summary")
    assert "worth less per token than what is kept" in visited.text("#detail ol")


def test_the_slider_changes_everything_to_another_budget(visit: Visitor) -> None:
    visited = visit(demo())
    slider = visited.page.locator("#budget")
    slider.focus()
    figures = []
    visited.press("Home")
    for _ in range(5):
        figures.append(int(visited.text("#after").replace(",", "")))
        visited.press("ArrowRight")
    assert figures == sorted(figures, reverse=True)
    assert len(set(figures)) == 5
    assert slider.get_attribute("aria-valuetext").startswith("15 %: ")
    assert visited.text("#ticks .now") == "15 %"


def test_one_budget_needs_no_slider(visit: Visitor) -> None:
    visited = visit(demo(), steps=[100])
    assert not visited.page.locator("#budget").is_visible()
    assert visited.text("#budget-note").startswith("No budget")


def test_money_by_model(visit: Visitor) -> None:
    visited = visit(demo(), model="claude-sonnet-4-6")
    visited.page.click("#money-open")
    assert visited.page.locator("#prices tr").count() >= 5
    assert visited.text("#prices tr.own th") == "claude-sonnet-4-6"
    assert "List prices as of 20" in visited.text("#money-note")
    visited.shoot("money")
    visited.press("Escape")
    assert not visited.page.locator("#money").is_visible()


def test_the_keyboard_alone_is_enough(visit: Visitor) -> None:
    visited = visit(demo())
    visited.press("Tab")
    assert visited.page.evaluate("document.activeElement.className") == "skip"
    visited.press("Enter", "Tab")  # past the skip link
    top = "Math.round(document.getElementById('view').scrollTop)"
    tops = [visited.page.evaluate(top)]
    for key in ("j", "j", "n", "n"):
        visited.press(key)
        tops.append(visited.page.evaluate(top))
    assert tops == sorted(set(tops))
    visited.press("k", "p")
    assert visited.page.evaluate(top) < tops[-1]
    visited.press("v")
    assert visited.page.evaluate("document.activeElement.id") == "list"
    visited.press("End")
    assert visited.text("#detail h2").startswith("#60 ")
    visited.press("Home", "ArrowDown", "j", "k", "PageDown", "ArrowUp", "Enter")
    assert visited.page.evaluate("document.activeElement.id") == "detail"
    visited.press("Escape")
    assert visited.page.evaluate("document.activeElement.id") == "list"
    chosen = visited.page.get_attribute("#list", "aria-activedescendant")
    assert visited.page.get_attribute(f"#{chosen}", "aria-selected") == "true"
    after = visited.text("#after")
    visited.press("[")
    assert visited.text("#after") != after
    visited.press("]", "/")
    assert visited.page.evaluate("document.activeElement.id") == "search"
    visited.press("Escape", "?")
    assert visited.page.locator("#keys").is_visible()


def test_dark_and_light(visit: Visitor) -> None:
    dark = both(visit(demo(), scheme="dark"))
    assert dark.is_dark()
    dark.page.click("#row-5")
    dark.shoot("dark")
    dark.page.click("#theme")
    assert not dark.is_dark()
    light = visit(demo(), scheme="light")
    assert not light.is_dark()
    for _ in range(2):
        light.page.click("#theme")
    assert light.is_dark()


def test_a_narrow_window_hides_nothing(visit: Visitor) -> None:
    visited = visit(demo(), size=(390, 844))
    assert visited.page.evaluate("document.documentElement.scrollWidth") <= 390
    first = visited.page.evaluate("document.querySelector('.turn pre').getBoundingClientRect().top")
    assert first < 844 / 2, "the first screen shows the conversation"
    visited.shoot("phone")
    both(visited)
    visited.page.click("#row-5")
    assert visited.page.locator("#detail h2").is_visible()
    visited.shoot("narrow")


def hostile() -> list[dict[str, Any]]:
    """Put every payload into every place that a message has."""
    messages: list[dict[str, Any]] = []
    for n, payload in enumerate(PAYLOADS):
        messages.append({"role": f"user {payload}", "content": payload})
        messages += call(n, payload, {payload: payload}, f"{payload}\n{source_code(n)}\n{payload}")
        messages.append({"role": "assistant", "content": f"{payload} " * 40})
    return messages


def test_text_never_becomes_markup(visit: Visitor) -> None:
    assert len(PAYLOADS) >= 50
    messages = hostile()
    visited = visit(messages, title="".join(PAYLOADS))
    page = visited.page
    both(visited)
    page.evaluate(
        "globalThis.nodes = document.querySelectorAll('script, style, link, meta').length"
    )
    for place in range(0, len(messages), 2):
        page.evaluate("document.getElementById('list').focus()")
        visited.press("ArrowDown", "ArrowDown")
        if place % 40 == 0:
            visited.press("[" if place % 80 else "]")
    foreign = (
        "img, image, svg, math, iframe, object, embed, video, audio, form form, base, template"
    )
    assert page.locator(foreign).count() == 0
    assert page.evaluate("document.querySelectorAll('script, style, link, meta').length === nodes")
    assert page.evaluate("typeof owned") == "undefined"
    assert page.evaluate("document.querySelectorAll('[onerror], [onload], [onfocus]').length") == 0
    page.click("#money-open")


def test_every_payload_is_shown_letter_for_letter(visit: Visitor) -> None:
    visited = visit([{"role": "user", "content": payload} for payload in PAYLOADS], steps=[100])
    texts = visited.page.eval_on_selector_all(".turn pre", "all => all.map(e => e.textContent)")
    assert texts == list(PAYLOADS)
    visited.press("v", "Home")
    for payload in PAYLOADS:
        shown = visited.page.text_content("#detail pre")
        assert shown == payload
        visited.press("ArrowDown")


def test_thousands_of_messages_do_not_freeze_it(visit: Visitor) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Count everything."}]
    for n in range((MANY - 2) // 2):
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, source_code(n % 50))
    messages.append({"role": "user", "content": "And now? Say something about needle 4711."})
    assert len(messages) == MANY
    visited = visit(messages)
    page = visited.page
    ready = page.evaluate("performance.getEntriesByName('ready')[0].startTime")
    assert count_shown(visited) == len(compress(messages, token_budget="30%").messages)
    assert page.locator(".turn").count() <= 100
    both(visited)
    assert count_shown(visited) == MANY
    assert page.locator(".row").count() < 60
    took = page.evaluate(
        """() => new Promise((done) => {
            const start = performance.now(), list = document.getElementById("list");
            list.dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
            const box = document.getElementById("search");
            box.value = "needle 4711";
            box.dispatchEvent(new Event("input"));
            const slider = document.getElementById("budget");
            slider.value = 4;
            slider.dispatchEvent(new Event("input"));
            const wait = () => document.getElementById("shown").textContent.startsWith("1 of")
                ? done(performance.now() - start) : requestAnimationFrame(wait);
            wait();
        })"""
    )
    print(f"\n{MANY} messages: ready after {ready:.0f} ms, answers after {took:.0f} ms")
    assert ready + took < 1000 * LIMIT_SECONDS
    assert "needle 4711" in visited.text("#detail")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit: Visitor, scheme: str) -> None:
    visited = both(visit(demo(), scheme=scheme, bypass_policy=True))
    visited.page.click("#row-5")
    visited.page.click("#detail summary")
    visited.check_with_axe(least="serious")
    visited.page.click("#money-open")
    visited.check_with_axe(least="serious")
