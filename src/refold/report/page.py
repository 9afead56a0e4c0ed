"""Put the page together: one file of HTML, with style, script and data in it, and no network.

Text of a conversation goes only into the data, in which nothing can end the element around it; the
script shows it with `textContent`. Should anything get around that, the policy of the page lets no
other script run, no markup be made from strings, and no request leave.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

_FOLDER: Final = files("refold.report")
_ESCAPES: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
"""What could end a script element, or begin a comment in it."""


def make_page(title: str, data: Mapping[str, Any]) -> str:
    """Return the whole page as HTML."""
    style, script, page = (
        _FOLDER.joinpath(name).read_text("utf-8")
        for name in ("report.css", "report.js", "report.html")
    )
    parts = {
        "{{policy}}": _policy(style, script),
        "{{title}}": html.escape(title.encode(errors="replace").decode()),  # half a character
        "{{style}}": style,
        "{{script}}": script,
        "{{data}}": encode(data),
    }
    first, *rest = page.split("{{")
    made = [first]
    for piece in rest:  # in one pass: what is put in is never searched for more
        name, _, text = piece.partition("}}")
        made += (parts["{{" + name + "}}"], text)
    return "".join(made)


def encode(data: Mapping[str, Any]) -> str:
    """Spell *data* as JSON in ASCII that is safe inside a script element."""
    return json.dumps(data, separators=(",", ":")).translate(_ESCAPES)


def _policy(style: str, script: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
