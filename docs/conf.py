"""Sphinx builds the site from the Markdown pages next to this file: `make docs`.

Why Sphinx: it is well maintained, checks links and references as it builds, and reads Markdown
through MyST, so the pages also read well where no site is built.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

HERE = Path(__file__).parent

project = "refold"
author = "The refold authors"
copyright = "The refold authors, Apache-2.0"

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "refold"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["refold.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2f5fb3", "color-brand-content": "#2f5fb3"},
    "dark_css_variables": {"color-brand-primary": "#8ab4f8", "color-brand-content": "#8ab4f8"},
}

myst_heading_anchors = 4
copybutton_prompt_text = "$ "
nitpicky = True


def _text(name: str) -> str:
    """Return the source of a page, or of the file that it includes."""
    text = (HERE / f"{name}.md").read_text(encoding="utf-8")
    included = re.match(r"```{include} (\S+)", text)
    return (HERE / included[1]).read_text(encoding="utf-8") if included else text


def _summary(text: str) -> tuple[str, str]:
    """Return the title of a page and its first sentence."""
    title, _, rest = text.partition("\n")
    prose = next((p for p in rest.split("\n\n") if re.match(r"\s*(?!```)[\w`*]", p)), "")
    sentence = re.split(r"(?<=[.?])\s", " ".join(prose.split()), maxsplit=1)[0]
    return title.removeprefix("# ").strip(), sentence


def _sections(app: Sphinx) -> Iterator[tuple[str, list[str]]]:
    """Yield the captions of the front page, each with its pages in their order."""
    for found in re.finditer(r":caption: (.+)\n\n([^`]+)```", _text("index")):
        names = found[2].split()
        below = {name: sorted(app.env.toctree_includes.get(name, ())) for name in names}
        yield found[1], [page for name in names for page in (name, *below[name])]


def write_llms_txt(app: Sphinx, error: Exception | None) -> None:
    """Write `llms.txt`, a map of the site for models, and `llms-full.txt`, all of its text."""
    if error is not None or app.builder.name != "html":
        return
    lines, texts = ["# refold", "", f"> {_summary(_text('index'))[1]}"], []
    for caption, names in _sections(app):
        lines += ["", f"## {caption}", ""]
        for name in names:
            text = _text(name)
            title, sentence = _summary(text)
            lines.append(f"- [{title}]({name}.html): {sentence}")
            texts.append(text)
    Path(app.outdir, "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path(app.outdir, "llms-full.txt").write_text("\n\n".join(texts), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Have the two files written when everything else is."""
    app.connect("build-finished", write_llms_txt)
