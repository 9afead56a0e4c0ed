"""A headless Chromium, which notes everything that a page asks for and all that goes wrong."""

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
AXE = BUILD / "node_modules" / "axe-core" / "axe.min.js"
IMPACTS = ("minor", "moderate", "serious", "critical")
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

    def is_dark(self) -> bool:
        colour = self.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 128

    def check_with_axe(self, *, least: str = "minor") -> None:
        """Fail if the page is hard to use for some; its policy must have been bypassed.

        *least* is the impact of a violation that counts: minor, moderate, serious or critical.
        """
        if not AXE.exists():
            pytest.skip("there is no axe-core: make test-browser installs it")
        if not self.page.evaluate("'axe' in globalThis"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run()")
        violations = [
            f"{one['id']} ({one['impact']}): {[node['html'][:200] for node in one['nodes'][:3]]}"
            for one in found["violations"]
            if IMPACTS.index(one["impact"]) >= IMPACTS.index(least)
        ]
        assert violations == []
        assert len(found["passes"]) > 10


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
def open_page(browser: Any) -> Iterator[Visitor]:
    """Open the page at an address; nothing may go wrong until the end of the test."""
    visits: list[Visit] = []
    contexts = []

    def open_address(
        address: str,
        *,
        scheme: str = "light",
        bypass_policy: bool = False,
        size: tuple[int, int] = (1440, 900),
    ) -> Visit:
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
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        visits.append(visited)
        return visited

    yield open_address
    for visited in visits:
        assert visited.complaints == []
    for context in contexts:
        context.close()


@pytest.fixture
def visit(open_page: Visitor, tmp_path: Path) -> Iterator[Visitor]:
    """Open the report of some messages."""
    visits: list[Visit] = []
    window = {"scheme", "bypass_policy", "size"}

    def open_report(messages: list[dict[str, Any]], **choices: Any) -> Visit:
        file = tmp_path / f"report-{len(visits)}.html"
        how = {name: choices.pop(name) for name in window & set(choices)}
        file.write_text(render(messages, **choices), encoding="utf-8")
        visits.append(open_page(file.as_uri(), **how))
        return visits[-1]

    yield open_report
    for visited in visits:
        assert len(visited.requests) == 1, "nothing but the page itself is fetched"


def _refuse(visited: Visit, dialog: Any) -> None:
    visited.complaints.append(f"dialog: {dialog.message}")
    dialog.dismiss()
