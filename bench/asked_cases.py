"""Conversations in which somebody asks about one entry of a long source, made by seed.

An agent reads one source or six: logs, JSON records, reports in prose and files of code, short ones
and long ones. Each entry has an id, a thing that is described in words, and a number that nobody
else has. The entry may stand in the newest source or in an older one, and its name, never its
number, may have come up in talk before. In the end a person asks about it, the agent mentions it, a
call that has no answer yet names it, or nobody does; by its id or by its words. Whoever has to
answer needs the number.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Messages = list[dict[str, Any]]

KINDS: Final = ("log", "records", "prose", "file")
USER: Final = "user"
AGENT: Final = "agent"
PENDING: Final = "pending call"
NOBODY: Final = "nobody"
ASKERS: Final = (USER, AGENT, PENDING, NOBODY)
_SOURCES: Final = (1, 6)
"""How many sources are read."""
_MOST_TALKS: Final = 3
"""How often the entry may be named before it is asked about."""
_REGION: Final = 48
"""Lines above a number in which its function or record may be named."""

_MAKES: Final = (
    "quartz copper amber walnut linen cedar marble bronze velvet wicker enamel pewter ivory "
    "porcelain leather canvas granite birch"
).split()
_THINGS: Final = (
    "lantern kettle compass barrel mirror saddle anchor ledger clock chest loom anvil bellows "
    "sextant funnel ladder trellis spindle"
).split()
_PORTS: Final = (
    "Corvane Ashmere Tolvik Brannoch Lysander Fennmoor Gravelle Ostrava Pelham Quillon Ravenna "
    "Skerries Thornby Ullapool Vexin Wexford"
).split()
_MENTIONS: Final = (
    "I looked for {} in the old register; nothing there yet.",
    "Yesterday's mail is about {} as well.",
    "Somebody asked for {} at the gate.",
)
_STATES: Final = ("stored", "moved", "weighed", "sealed", "counted", "held", "cleared")
_BY: Final = ("rail", "cart", "barge", "truck")
_TALK: Final = (
    "The tide tables were late again, so most of the morning went into waiting for the pilot.",
    "Nobody had written down who opened the north gate, and the watch denied having done it.",
    "The crane was repaired with a part from the old one, which the foreman called temporary.",
    "Two clerks compared their lists and agreed that the weather was to blame for the gaps.",
    "The office asked for a shorter form, and the form that came back was longer than before.",
    "Most crates were dry when they were opened, apart from those that stood near the slip.",
    "A visitor from the ministry walked along the quay and asked about the price of rope.",
    "The evening shift began with a drill, which took an hour and convinced no one.",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line, record, sentence or function of a source."""

    id: str
    thing: str
    """What it is about, in words."""
    number: str
    """What is needed to answer, and in no question."""

    @property
    def identifier(self) -> str:
        """Its id as code spells it."""
        return self.id.replace("-", "_").lower()

    def is_named_in(self, text: str) -> bool:
        """Tell whether *text* says which entry it is, by id or in words."""
        is_told = all(word in text for word in self.thing.split())
        return is_told or self.id in text or self.identifier in text


@dataclass(frozen=True, slots=True)
class Case:
    """One conversation, and the entry that it asks about in the end."""

    kind: str
    asker: str
    by: str
    """id or words"""
    messages: Messages
    entry: Entry
    ending: int
    """How many messages at the end ask."""

    def is_kept(self, view: Sequence[Mapping[str, Any]]) -> bool:
        """Tell whether *view* still shows the number together with what it belongs to."""
        lines = [line for m in view[: -self.ending] for line in (m["content"] or "").split("\n")]
        reach = _REGION if self.kind in ("file", "records") else 0
        for place, line in enumerate(lines):
            if self.entry.number in line:
                around = "\n".join(lines[max(0, place - reach) : place + 1])
                if self.entry.is_named_in(around):
                    return True
        return False


def make_case(kind: str, asker: str, number: int, seed: int) -> Case:
    """Make one case; all askers of the same kind and number ask about the same sources."""
    dice = random.Random(f"{seed}/{kind}/{number}")
    entries = _make_entries(dice)
    sources = dice.choice(_SOURCES)
    asked_at = dice.choice((sources - 1, dice.randrange(sources)))  # every other time the newest
    others = [other for other in KINDS if other != kind]
    turns: list[Messages] = []
    for place in range(sources):
        source = kind if place == asked_at else dice.choice(others)
        write, sizes, tool = _WRITERS[source]
        listed = [next(entries) for _ in range(dice.randint(*sizes))]
        turns.append(_read(dice, place, tool, write(dice, listed)))
        if place == asked_at:
            asked = dice.choice(listed)
    for mention in _MENTIONS[: dice.randint(0, _MOST_TALKS)]:
        turns.insert(dice.randint(0, len(turns)), _talk(dice, mention.format(asked.id)))
    messages: Messages = [
        {"role": "system", "content": "You keep the books of a harbour. Never guess a number."},
        {"role": "user", "content": "Read what there is about last week's cargo, then report."},
        *(message for turn in turns for message in turn),
    ]
    by = ("id", "words")[number % 2]
    id_ = f"fee_{asked.identifier}" if kind == "file" and number % 4 == 2 else asked.id
    ending = _ask(asker, id_ if by == "id" else asked.thing)
    return Case(kind, asker, by, messages + ending, asked, len(ending))


def _talk(dice: random.Random, mention: str) -> Messages:
    """Write two messages in which an entry is named, by a person or by the agent."""
    if dice.random() < 0.5:
        talk = (("user", mention), ("assistant", "Noted."))
    else:
        talk = (("user", "Anything new?"), ("assistant", mention))
    return [{"role": role, "content": text} for role, text in talk]


def _ask(asker: str, subject: str) -> Messages:
    """Write the last messages, which name *subject*."""
    match asker:
        case "user":
            return [{"role": "user", "content": f"What number was written down for {subject}?"}]
        case "agent":
            said = f"I still have to enter the number of {subject}. First the time for the stamp."
            call = _call("call_time", "current_time", {})
            return [
                {"role": "assistant", "content": said, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "call_time", "content": "10:42"},
            ]
        case "pending call":
            call = _call("call_entry", "check_entry", {"entry": subject})
            return [{"role": "assistant", "content": None, "tool_calls": [call]}]
        case _:
            return [{"role": "user", "content": "Thank you. Say in a sentence how far you are."}]


def _make_entries(dice: random.Random) -> Iterator[Entry]:
    """Yield entries for ever; things and numbers never come again."""
    things: set[str] = set()
    numbers = iter(dice.sample(range(10_000, 99_999), 2_000))
    ids = iter(dice.sample(range(1_000, 9_999), 2_000))
    while True:
        thing = f"{dice.choice(_MAKES)} {dice.choice(_THINGS)} for {dice.choice(_PORTS)}"
        if thing not in things:
            things.add(thing)
            yield Entry(f"K-{next(ids)}", thing, str(next(numbers)))


def _read(dice: random.Random, place: int, tool: str, text: str) -> Messages:
    said = dice.choice(("Next source.", "On to the next one.", "Let me read this too.", ""))
    call = _call(f"call_{place}", tool, {"source": f"cargo/{tool}_{place}"})
    return [
        {"role": "assistant", "content": said or None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{place}", "content": text},
    ]


def _call(id_: str, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": id_, "type": "function", "function": function}


def _write_log(dice: random.Random, entries: Sequence[Entry]) -> str:
    return "\n".join(
        f"2026-03-{14 + place // 40:02} {8 + place % 12:02}:{dice.randint(0, 59):02} INFO bay-"
        f"{dice.randint(1, 9)} {entry.id} {dice.choice(_STATES)}: {entry.thing}, "
        f"seal {entry.number}"
        for place, entry in enumerate(entries)
    )


def _write_records(dice: random.Random, entries: Sequence[Entry]) -> str:
    """Write a list of short records, or of long ones on many lines."""
    is_long = dice.random() < 0.5
    records: list[dict[str, Any]] = []
    for entry in entries:
        record: dict[str, Any] = {"id": entry.id, "item": entry.thing}
        if is_long:
            record["stops"] = [
                {"port": dice.choice(_PORTS), "berth": dice.randint(1, 40), "by": dice.choice(_BY)}
                for _ in range(3)
            ]
            record["note"] = dice.choice(_TALK)
        record |= {"state": dice.choice(_STATES), "bay": dice.randint(1, 9)}
        records.append(record | {"seal": int(entry.number)})
    return json.dumps(records, indent=2 if is_long else None)


def _write_prose(dice: random.Random, entries: Sequence[Entry]) -> str:
    """Write reports; the number of an entry stands in the sentence that names it or in the next."""
    sentences: list[str] = []
    for entry in entries:
        named = f"The clerk entered the {entry.thing} under {entry.id}"
        if dice.random() < 0.5:
            sentences.append(f"{named} at {entry.number} crowns.")
        else:
            sentences.append(f"{named}. It was valued at {entry.number} crowns.")
        sentences += dice.sample(_TALK, 2)
    return "\n\n".join(" ".join(sentences[at : at + 6]) for at in range(0, len(sentences), 6))


def _write_file(dice: random.Random, entries: Sequence[Entry]) -> str:
    """Write functions as a file or as an editor shows it, with numbers before the lines."""
    functions = [_write_function(dice, entry) for entry in entries]
    text = "import math\n\n\n" + "\n\n".join(functions)
    if dice.random() < 0.5:
        return text
    return "\n".join(f"{n:6}\t{line}" for n, line in enumerate(text.split("\n"), 1))


def _write_function(dice: random.Random, entry: Entry) -> str:
    checks = [
        f"    if days > {dice.randint(100, 999)}:\n        raise ValueError({word!r})\n"
        for word in dice.choices(_STATES, k=dice.randint(0, 16))
    ]
    above = dice.randint(0, len(checks))
    return (
        f"def fee_{entry.identifier}(days, rows):\n"
        f'    """Fee of {entry.id}, the {entry.thing}."""\n'
        f"{''.join(checks[:above])}"
        f"    rate = 0.{entry.number}\n"
        f"{''.join(checks[above:])}"
        f"    for row in rows[:{dice.randint(2, 90)}]:\n"
        f"        days += row.get({dice.choice(_STATES)!r}, {dice.randint(0, 9)})\n"
        f"    return round(rate * days, 2)\n"
    )


_Writer = Callable[[random.Random, Sequence[Entry]], str]
_WRITERS: Final[Mapping[str, tuple[_Writer, tuple[int, int], str]]] = {
    "log": (_write_log, (12, 150), "read_log"),
    "records": (_write_records, (12, 150), "query"),
    "prose": (_write_prose, (6, 24), "read_report"),
    "file": (_write_file, (5, 20), "read_file"),
}
"""How a source is written, how few and how many entries it has, and which tool reads it."""
