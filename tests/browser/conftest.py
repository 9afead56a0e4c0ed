"""A headless Chromium that reaches nothing but files, and notes everything that goes wrong."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from refold.report import render

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "browser"
SCREENSHOTS = BUILD / "screenshots"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


@dataclass
class Visit:
    """A page that is open, and what was noticed about it."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    """Errors, warnings and dialogs."""
    requests: list[str] = field(default_factory=list)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def wait_for(self, selector: str, pattern: str) -> None:
        """Wait until something reads like that."""
        self.page.locator(selector).filter(has_text=re.compile(pattern)).wait_for()

    def shoot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


Visitor = Callable[..., Visit]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="make test-browser installs it")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Visitor]:
    """Open the report of some messages; nothing may go wrong until the end of the test."""
    visits: list[Visit] = []
    contexts = []

    def open_report(
        messages: list[dict[str, Any]],
        *,
        scheme: str = "light",
        bypass_policy: bool = False,
        size: tuple[int, int] = (1440, 900),
        **choices: Any,
    ) -> Visit:
        file = tmp_path / f"report-{len(visits)}.html"
        file.write_text(render(messages, **choices), encoding="utf-8")
        context = browser.new_context(
            color_scheme=scheme,
            bypass_csp=bypass_policy,
            viewport={"width": size[0], "height": size[1]},
        )
        contexts.append(context)
        visited = Visit(context.new_page())
        page = visited.page
        page.on("request", lambda request: visited.requests.append(request.url))
        page.on("pageerror", lambda error: visited.complaints.append(f"error: {error}"))
        page.on("console", lambda said: visited.complaints.append(f"{said.type}: {said.text}"))
        page.on("dialog", lambda dialog: _refuse(visited, dialog))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        visits.append(visited)
        return visited

    yield open_report
    for visited in visits:
        assert visited.complaints == []
        assert len(visited.requests) == 1, "nothing but the page itself is fetched"
    for context in contexts:
        context.close()


def _refuse(visited: Visit, dialog: Any) -> None:
    visited.complaints.append(f"dialog: {dialog.message}")
    dialog.dismiss()
