"""Follow every link of the built site.

python docs/check_site.py build/docs

A link to a page, a file or a place on a page that is not there is printed, and the exit code is 1.
Links to other sites are counted and left alone: a build needs no network.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the places on it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids and addresses."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            elif name in ("href", "src") and value and tag != "base":
                self.links.append(value)


def find_broken(site: Path) -> tuple[list[str], int, int]:
    """Return the links that lead nowhere, and how many lead inside and outside of *site*."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    linked = {path: page.links for path, page in pages.items()}
    for path in site.glob("llms.txt"):  # the map of the site for models
        linked[path] = re.findall(r"^- \[.*?\]\((.*?)\):", path.read_text("utf-8"), re.MULTILINE)
    broken, inside, outside = [], 0, 0
    for path, links in linked.items():
        for link in links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                outside += parts.scheme in ("http", "https")
                continue
            inside += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.exists() or (target in pages and place not in pages[target].places):
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken, inside, outside


def main() -> int:
    """Check the site in the folder that is named."""
    broken, inside, outside = find_broken(Path(sys.argv[1]).resolve())
    print("\n".join(broken) or f"{inside:,} links resolve; {outside:,} lead to other sites")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
