"""Texts to test the token estimate on: seeded, of many kinds; its weights were fitted to others.

What agents read all day (source code, JSON, logs, tables, pages) is made from templates with names
and numbers filled in.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from estimator_templates import CODE, LANGUAGES, LOG_LINES, PAGES, SENTENCES, SETTINGS, WORDS

PER_KIND: Final = 60
SEED: Final = "test"
_WITHOUT_BLANKS: Final = ("Chinese", "Japanese")
_SLOT: Final = re.compile("§([a-zA-Z])")
_PEOPLE: Final = ("Tomás Rivera", "Aylin Kaya", "Oskar Lund", "Grace Okafor", "Wei Chen")
_STATES: Final = ("active", "ACTIVE", "archived", "not started", "done")


@dataclass(frozen=True, slots=True)
class Maker:
    """Fills templates with names and numbers from a seed."""

    dice: random.Random

    def word(self) -> str:
        """Draw a word; the vocabulary begins with the frequent ones."""
        words = WORDS
        return words[int(len(words) * self.dice.random() ** 2)]

    def words(self) -> list[str]:
        """Draw the words of a name: mostly one or two."""
        return [self.word() for _ in range(self.dice.choice((1, 1, 2, 2, 2, 3)))]

    def fill(self, template: str) -> str:
        """Put something into each slot: a paragraph sign and the letter of what belongs there."""
        return _SLOT.sub(lambda slot: _FILLINGS[slot[1]](self), template)

    def blocks(self, templates: Sequence[str], least: int, most: int, between: str = "\n") -> str:
        """Fill some of the templates and join them."""
        chosen = self.dice.choices(templates, k=self.dice.randint(least, most))
        return between.join(map(self.fill, chosen))

    def record(self, shape: int) -> dict[str, Any]:
        """Make a row as a service returns it; rows of a shape have the same columns."""
        dice = self.dice
        columns: list[tuple[str, Any]] = [
            ("id", dice.randrange(10 ** dice.randint(2, 7))),
            ("name", dice.choice(_PEOPLE)),
            ("status", dice.choice(_STATES)),
            ("total", round(dice.random() * 10 ** dice.randint(1, 4), 2)),
            ("is_active", dice.random() < 0.5),
            ("created_at", self.fill("§dT§tZ")),
            ("tags", [self.word() for _ in range(dice.randint(0, 3))]),
            ("owner", None if dice.random() < 0.3 else {"login": self.fill("§v"), "age": 41}),
            ("description", self.fill("§s")),
            ("path", self.fill("src/§w/§v.py")),
            ("uuid", self.fill("§u")),
            ("ratio", dice.random()),
        ]
        layout = random.Random(shape)
        chosen = layout.sample(range(len(columns)), layout.randint(4, 8))
        return {_camel(columns[n][0].split("_")): columns[n][1] for n in chosen}

    def records(self) -> list[dict[str, Any]]:
        """Make some rows of one shape."""
        shape = self.dice.randrange(1_000)
        return [self.record(shape) for _ in range(self.dice.randint(3, 25))]

    def table(self) -> str:
        """Make comma separated values."""
        rows = self.records()
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def log(self) -> str:
        """Make lines of one or two formats, as one program writes them."""
        formats = self.dice.sample(LOG_LINES, 2)
        return self.blocks([formats[0], *formats], 6, 40)


def _camel(words: Sequence[str]) -> str:
    return words[0] + "".join(map(str.capitalize, words[1:]))


_FILLINGS: Final[Mapping[str, Callable[[Maker], str]]] = {
    "v": lambda make: "_".join(make.words()),
    "c": lambda make: _camel(make.words()),
    "C": lambda make: "".join(map(str.capitalize, make.words())),
    "K": lambda make: "_".join(make.words()).upper(),
    "k": lambda make: "-".join(make.words()),
    "w": Maker.word,
    "W": lambda make: make.word().capitalize(),
    "n": lambda make: str(make.dice.randrange(10 ** make.dice.randint(1, 4))),
    "i": lambda make: str(make.dice.randrange(10)),
    "f": lambda make: str(round(make.dice.random() * 100, make.dice.randint(1, 3))),
    "z": lambda make: f"{make.dice.randrange(1000):03}",
    "s": lambda make: make.fill(make.dice.choice(SENTENCES)),
    "d": lambda make: f"20{make.dice.randint(19, 27)}-{make.dice.randint(1, 12):02}-"
                      f"{make.dice.randint(1, 28):02}",
    "t": lambda make: f"{make.dice.randrange(24):02}:{make.dice.randrange(60):02}:"
                      f"{make.dice.randrange(60):02}",
    "h": lambda make: f"{make.dice.getrandbits(28):07x}",
    "u": lambda make: "-".join(make.dice.randbytes(n).hex() for n in (4, 2, 2, 2, 6)),
    "p": lambda make: "/".join(make.word() for _ in range(make.dice.randint(1, 3))),
    "a": lambda make: ".".join(str(make.dice.randrange(256)) for _ in range(4)),
    "P": lambda make: make.dice.choice(_PEOPLE),
}  # fmt: skip

KINDS: Final[Mapping[str, Callable[[Maker], str]]] = {
    "Markdown pages": lambda make: make.blocks(PAGES, 4, 16, "\n\n"),
    "Python source": lambda make: make.blocks(CODE["Python"], 3, 14, "\n\n"),
    "TypeScript source": lambda make: make.blocks(CODE["TypeScript"], 3, 14, "\n\n"),
    "compact JSON": lambda make: json.dumps(make.records(), separators=(",", ":")),
    "pretty JSON": lambda make: json.dumps(make.records(), indent=make.dice.choice((2, 2, 4))),
    "YAML": lambda make: make.blocks(SETTINGS, 2, 8),
    "log lines": Maker.log,
    "CSV": Maker.table,
}


NOISE: Final = ("base64", "hex", "numbers", "white space", "one letter")
"""Kinds without words."""


def everyday() -> Iterator[tuple[str, str]]:
    """Yield the kinds of text that agents read all day."""
    make = Maker(random.Random(SEED))
    for kind, write in KINDS.items():
        for _ in range(PER_KIND):
            yield kind, write(make)


def foreign() -> Iterator[tuple[str, str]]:
    """Yield texts in other languages and scripts."""
    dice = random.Random(SEED)
    for language, sentences in LANGUAGES.items():
        words = sentences.split(" ")
        blank = "" if language in _WITHOUT_BLANKS else " "
        for _ in range(PER_KIND):
            dice.shuffle(words)
            yield language, blank.join(words * dice.randint(1, 3))


def noise() -> Iterator[tuple[str, str]]:
    """Yield texts without words."""
    dice = random.Random(SEED)
    for _ in range(PER_KIND):
        drawn = dice.randbytes(dice.randint(30, 600))
        numbers = (str(dice.randrange(10 ** dice.randint(1, 9))) for _ in range(60))
        texts = (
            base64.b64encode(drawn).decode(),
            drawn.hex(),
            " ".join(numbers),
            (" " * dice.randint(1, 40) + "\n") * dice.randint(5, 60),
            "a" * dice.randint(200, 1000),
        )
        yield from zip(NOISE, texts, strict=True)


def generated() -> Iterator[tuple[str, str]]:
    """Yield all of it, each text with its kind."""
    yield from everyday()
    yield from foreign()
    yield from noise()
