"""Read the data of a page back."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any


def unpack(packed: str) -> Any:
    """Return the data that `refold.report.data.pack` was given."""
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    texts = dict(data.pop("texts"))
    for message in data["messages"]:
        message["texts"] = [texts[number] for number in message["texts"]]
    for step in data["steps"]:
        for turn in step["view"]:
            if "x" in turn:
                turn["x"] = [texts[number] for number in turn["x"]]
        for text in (text for row in step["rows"] for text in row["x"]):
            text.update({name: texts[text[name]] for name in ("o", "c") if name in text})
    return data
