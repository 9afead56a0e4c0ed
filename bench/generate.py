"""Make conversations to measure on: seeded, so that the same numbers give the same bytes.

What agents see all day, in messages of one to two kilobytes: prose in English and Chinese, code
read from files, JSON records, logs, search hits and answers with fenced code. Some texts come again
word for word and some with a few lines changed, as when a file is read twice.

examples:
  python bench/generate.py --megabytes 1 > conversation.json
  python bench/generate.py --messages 4000 --seed 3 | refold stats -
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

Messages = list[dict[str, Any]]

_SEED: Final = 7
_REMEMBERED: Final = 40
"""How many of the last tool answers may come again."""

_WORDS: Final = (
    "the a of to and in that is was for on with as it at by from this have are be not we they "
    "harbour ledger window kettle garden engine river signal ticket corner letter market bridge "
    "lantern meadow pocket station morning repair planted answered carried quiet narrow hollow "
    "early later seldom behind across without because although toward between export import "
    "request response header worker queue cache index record column table schema migration release"
).split()
_PEOPLE: Final = ("Ines Roy", "Pavel Novak", "Amara Diallo", "Kenji Mori", "Lena", "Tomás Rivera")
_NAMES: Final = (
    "parseHeader", "user_sessions", "RetryPolicy", "flush_queue", "OrderBook", "loadConfig",
    "MAX_RETRIES", "tide_table", "CrateIndex", "openGate", "HTTPServer", "write_ahead_log",
)  # fmt: skip
_UNITS: Final = ("ms", "seconds", "MB", "requests", "workers", "%", "retries", "rows")
_OPENINGS: Final = ("Sure.", "I see.", "Thanks.", "However,", "Note that", "Therefore", "So", "Now")
_LEVELS: Final = ("INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR")
_FOLDERS: Final = ("src/export", "src/import", "lib/queue", "tests", "cmd/harbour", "web/pages")
_IDEOGRAPHS: Final = (
    "我们今天把港口的木箱又数了一遍结果比昨天少了三个所以需要再检查仓库里面的记录看看是不是有人忘了写"
    "下来然后把新的数字发给办公室这样明天早上大家就可以按照正确的清单开始工作不会因为数据错误而等待"
)


def generate(megabytes: float, seed: int = _SEED) -> Messages:
    """Make a conversation with at least that many megabytes (UTF-8) of text."""
    messages: Messages = []
    size = 0.0
    for message in _stream(random.Random(seed)):
        messages.append(message)
        size += len((message["content"] or "").encode())
        if size >= megabytes * 1e6 and message["role"] != "assistant":
            break
    return messages


def generate_messages(count: int, seed: int = _SEED) -> Messages:
    """Make a conversation of that many messages."""
    return [message for _, message in zip(range(count), _stream(random.Random(seed)), strict=False)]


def _stream(dice: random.Random) -> Iterator[dict[str, Any]]:
    """Go on for ever."""
    yield {"role": "system", "content": "You repair software. Answer briefly and never guess."}
    yield {"role": "user", "content": "Find out why the nightly export drops rows, and fix it."}
    seen: list[str] = []
    number = 0
    while True:
        number += 1
        if dice.random() < 0.3:
            yield {"role": "user", "content": _talk(dice)}
            yield {"role": "assistant", "content": _talk(dice)}
        elif dice.random() < 0.25:
            yield {"role": "assistant", "content": _answer_with_code(dice)}
        else:
            tool, make = dice.choice(_TOOLS)
            output = _again(dice, seen) or make(dice)
            seen.append(output)
            del seen[:-_REMEMBERED]
            yield from _call(dice, number, tool, output)


def _again(dice: random.Random, seen: Sequence[str]) -> str | None:
    """Return an earlier text now and then, as it was or with a line changed."""
    chance = dice.random()
    if not seen or chance > 0.12:
        return None
    text = dice.choice(seen)
    if chance < 0.06:
        return text
    lines = text.split("\n")
    lines[dice.randrange(len(lines))] = _sentence(dice)
    return "\n".join(lines)


def _call(dice: random.Random, number: int, tool: str, output: str) -> Iterator[dict[str, Any]]:
    arguments = json.dumps({"path": _path(dice), "limit": dice.randint(10, 400)})
    call = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": tool, "arguments": arguments},
    }
    said = _sentence(dice) if dice.random() < 0.5 else None
    yield {"role": "assistant", "content": said, "tool_calls": [call]}
    yield {"role": "tool", "tool_call_id": f"call_{number}", "content": output}


def _talk(dice: random.Random) -> str:
    if dice.random() < 0.2:
        return _chinese(dice)
    paragraphs = (_prose(dice, dice.randint(2, 7)) for _ in range(dice.randint(2, 5)))
    return "\n\n".join(paragraphs)


def _prose(dice: random.Random, sentences: int) -> str:
    return " ".join(_sentence(dice) for _ in range(sentences))


def _sentence(dice: random.Random) -> str:
    words = dice.choices(_WORDS, k=dice.randint(7, 22))
    if dice.random() < 0.25:
        words.insert(3, dice.choice(_NAMES))
    if dice.random() < 0.15:
        words.insert(5, dice.choice(_PEOPLE))
    if dice.random() < 0.15:
        words.append(f"in {dice.randint(2, 900)} {dice.choice(_UNITS)}")
    if dice.random() < 0.05:
        words.append(_path(dice))
    if dice.random() < 0.2:
        return f"{dice.choice(_OPENINGS)} {' '.join(words)}."
    return " ".join(words).capitalize() + dice.choice("....!?")


def _chinese(dice: random.Random) -> str:
    sentences = []
    for _ in range(dice.randint(20, 40)):
        start = dice.randrange(len(_IDEOGRAPHS) - 30)
        sentences.append(_IDEOGRAPHS[start : start + dice.randint(8, 28)])
        if dice.random() < 0.2:
            sentences[-1] += f"{dice.randint(2, 90)}个"
    return "。".join(sentences) + "。"


def _answer_with_code(dice: random.Random) -> str:
    before, after = _prose(dice, dice.randint(3, 6)), _prose(dice, dice.randint(1, 4))
    return f"{before}\n\n```python\n{_code(dice, 25)}\n```\n\n{after}"


def _code(dice: random.Random, lines: int = 60) -> str:
    made = []
    for number in range(lines):
        name = dice.choice(_NAMES)
        match dice.randrange(6):
            case 0:
                made.append(f"def step_{number}(rows, {dice.choice(_WORDS)}=None):")
            case 1:
                made.append(f"    if {dice.choice(_WORDS)} is None and rows[{number}]:")
            case 2:
                made.append(f"        raise ValueError(f'{dice.choice(_WORDS)} {{rows!r}}')")
            case 3:
                made.append(f"    {dice.choice(_WORDS)} = {name}(rows, {dice.randint(1, 99)})")
            case 4:
                made.append(f"    # {' '.join(dice.choices(_WORDS, k=6))}")
            case _:
                made.append(f"    return {name}.get({dice.choice(_WORDS)!r}, {number})")
    return "\n".join(made)


def _records(dice: random.Random) -> str:
    rows = [
        {
            "id": dice.randint(1, 10**6),
            "name": dice.choice(_PEOPLE),
            "status": dice.choice(("open", "closed", "waiting")),
            "total": round(dice.random() * 900, 2),
            "tags": dice.choices(_WORDS, k=2),
        }
        for _ in range(dice.randint(12, 26))
    ]
    return json.dumps(rows, ensure_ascii=False)


def _log(dice: random.Random) -> str:
    return "\n".join(
        f"2026-03-{dice.randint(1, 28):02}T{dice.randint(0, 23):02}:{dice.randint(0, 59):02}:07Z "
        f"{dice.choice(_LEVELS)} worker-{dice.randint(1, 9)} "
        f"{' '.join(dice.choices(_WORDS, k=5))} id={dice.getrandbits(40):x} "
        f"took {dice.randint(1, 900)} ms"
        for _ in range(dice.randint(14, 32))
    )


def _hits(dice: random.Random) -> str:
    return "\n".join(
        f"{_path(dice)}:{dice.randint(1, 900)}:    {dice.choice(_NAMES)}"
        f"({', '.join(dice.choices(_WORDS, k=3))})"
        for _ in range(dice.randint(25, 50))
    )


def _report(dice: random.Random) -> str:
    """Write what people write into tickets: prose, as a tool brings it."""
    return "\n\n".join(_prose(dice, dice.randint(3, 6)) for _ in range(dice.randint(3, 5)))


def _path(dice: random.Random) -> str:
    return f"{dice.choice(_FOLDERS)}/{dice.choice(_WORDS)}_{dice.randint(1, 60)}.py"


_TOOLS: Final[tuple[tuple[str, Callable[[random.Random], str]], ...]] = (
    ("read_file", _code),
    ("query", _records),
    ("read_log", _log),
    ("search", _hits),
    ("read_ticket", _report),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Write a conversation as JSON to standard output."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--megabytes", type=float, default=5.0, help="text at least (5)")
    size.add_argument("--messages", type=int, help="this many messages instead")
    parser.add_argument("--seed", type=int, default=_SEED, help=f"another conversation ({_SEED})")
    arguments = parser.parse_args(argv)
    if arguments.messages:
        messages = generate_messages(arguments.messages, arguments.seed)
    else:
        messages = generate(arguments.megabytes, arguments.seed)
    json.dump(messages, sys.stdout, ensure_ascii=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
