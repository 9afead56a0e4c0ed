"""Write docs/folded.md: two made-up runs, and what a model reads of them after folding.

One of them is also drawn, for the README.

python docs/make_folded.py            # writes docs/folded.md and docs/images/before-after.svg
python docs/make_folded.py --check    # exits with 1 if one of them is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from folded_picture import TITLE as PICTURED
from folded_picture import make_picture
from folded_runs import RUNS, SHARE, Run, fold, spell

from refold import legend

TARGET: Final = Path(__file__).with_name("folded.md")
PICTURE: Final = Path(__file__).parent / "images" / "before-after.svg"

_INTRO: Final = f"""# What the model reads

Two made-up runs, folded to {SHARE:.0%} of their tokens. `python docs/make_folded.py` writes this
page, unedited. `refold.legend()` explains the marks to the model:

> {{legend}}
"""


def main() -> int:
    """Write the page and the picture, or compare them with what would be written."""
    made = {TARGET: make_page(), PICTURE: make_picture()}
    if "--check" in sys.argv[1:]:
        return int(any(path.read_text("utf-8") != text for path, text in made.items()))
    for path, text in made.items():
        path.write_text(text, "utf-8")
    return 0


def make_page() -> str:
    """Return the whole page: one run as the picture, the other as text."""
    parts = [_INTRO.format(legend=legend().replace("\n", "\n> "))]
    for title in RUNS:
        run, result = fold(title)
        parts.append(f"## {title}\n")
        if title == PICTURED:
            parts.append(
                f"![{len(run)} messages and what is left of them](images/{PICTURE.name})\n"
            )
            continue
        parts += [
            f"Before, {result.tokens_before:,} tokens:\n",
            _block(run),
            f"After, {result.tokens_after:,} tokens:\n",
            _block(result.messages),
        ]
    return "\n".join(parts)


def _block(run: Run) -> str:
    said = "\n\n".join(map(spell, run))
    return f"````text\n{said}\n````\n"


if __name__ == "__main__":
    sys.exit(main())
