"""Two made-up runs of agents that the docs fold: what they say is invented, the folds are not."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, Final

from refold import Result, compress

SHARE: Final = 0.3
Message = dict[str, Any]
Run = list[Message]


def fold(title: str) -> tuple[Run, Result]:
    """Make the run of that *title*, and fold it to `SHARE` of its tokens."""
    run = RUNS[title]()
    whole = compress(run, token_budget=10**9, model="gpt-4o").tokens_before
    budget = int(SHARE * whole)
    return run, compress(run, token_budget=budget, model="gpt-4o", conversation=title)


def spell(message: Message) -> str:
    """Spell a message as text: who speaks, what, and the calls."""
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    said = [f"{message['role']}: {message['content']}"] if message["content"] or not calls else []
    called = [f"{message['role']} calls {call['name']} {call['arguments']}" for call in calls]
    return "\n".join((*said, *called))


def _call(number: int, name: str, arguments: Any, result: str, said: str = "") -> Run:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"call_{number}", "type": "function", "function": function}]
    return [
        {"role": "assistant", "content": said, "tool_calls": calls},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
    ]


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _order(seed: int, status: str, items: int = 3) -> str:
    """Make an order as a shop's interface returns it."""
    chance = random.Random(seed)
    names = ["Desk lamp", "Garden hose", "Backpack", "Bookshelf", "Kettle", "Skateboard"]
    order = {
        "order_id": f"W{chance.randrange(10**6, 10**7)}",
        "status": status,
        "items": [
            {
                "name": chance.choice(names),
                "item_id": str(chance.randrange(10**9, 10**10)),
                "price": chance.randrange(900, 40000) / 100,
                "options": {"color": chance.choice(["green", "grey"]), "size": "M"},
            }
            for _ in range(items)
        ],
        "paid_with": f"card_{chance.randrange(1000, 10000)}",
        "address": {"street": f"{chance.randrange(10, 900)} Chestnut Street", "zip": "32286"},
    }
    return json.dumps(order)


def _support() -> Run:
    orders = [json.loads(_order(seed, status)) for seed, status in enumerate(("delivered",) * 3)]
    first, second, third = (order["order_id"] for order in orders)
    back = orders[1]["items"][0]
    return [
        _user("I want to send something back, and cancel an order."),
        _assistant("I can help with both. May I have your name and zip code?"),
        _user("Isabel Johansson, 32286. Please do not change the address of anything."),
        *_call(0, "find_customer", {"name": "Isabel Johansson"}, "isabel_johansson_2152"),
        *_call(1, "get_order", {"order_id": first}, json.dumps(orders[0])),
        *_call(2, "get_order", {"order_id": second}, json.dumps(orders[1])),
        *_call(3, "get_order", {"order_id": third}, json.dumps({**orders[2], "status": "pending"})),
        _assistant(
            f"I found three orders. {second} was delivered and has the {back['name'].lower()} "
            f"(item {back['item_id']}); {third} is still pending. Shall I return the "
            f"{back['name'].lower()} to your card and cancel {third}?"
        ),
        _user("Yes to the return. Cancel the other one as well, I no longer need it."),
        *_call(
            4,
            "return_items",
            {"order_id": second, "item_ids": [back["item_id"]]},
            json.dumps({**orders[1], "status": "return requested"}),
        ),
    ]


_MODULE: Final = '''"""Folders of letters."""

import re
from pathlib import Path

LETTER = re.compile(r"letter-(\\d+)\\.txt")


def number_of(name):
    """Return the number in the name of a letter."""
    return int(LETTER.match(name).group(1))


def newest(folder):
    """Return the path of the newest letter."""
    names = sorted(path.name for path in Path(folder).iterdir())
    return Path(folder) / max(names, key=number_of)


def archive(folder, keep=10):
    """Move all letters but the newest ones into the archive."""
    names = sorted((p.name for p in Path(folder).iterdir()), key=number_of)
    for name in names[:-keep]:
        (Path(folder) / name).rename(Path(folder) / "archive" / name)
'''


def _coding() -> Run:
    listing = "\n".join(
        [f"src/letters/{name}.py" for name in ("__init__", "folders", "stamps", "routes", "post")]
        + [f"tests/test_{name}.py" for name in ("folders", "stamps", "routes", "post")]
    )
    failed = (
        "............F                                                            [100%]\n"
        "_____________________________ test_newest ______________________________\n"
        "    def number_of(name):\n>       return int(LETTER.match(name).group(1))\n"
        "E       AttributeError: 'NoneType' object has no attribute 'group'\n\n"
        "src/letters/folders.py:11: AttributeError\n"
        "FAILED tests/test_folders.py::test_newest - AttributeError\n1 failed, 12 passed in 0.31s"
    )
    passed = (
        ".............                                                            [100%]\n"
        "13 passed in 0.29s"
    )
    edit = {
        "path": "src/letters/folders.py",
        "old": "    return int(LETTER.match(name).group(1))",
        "new": "    found = LETTER.match(name)\n    return int(found.group(1)) if found else -1",
    }
    return [
        _user(
            "newest() crashes when the folder holds anything but letters. Fix it, but do not touch "
            "the tests, and run them when you are done."
        ),
        *_call(0, "bash", {"command": "git ls-files"}, listing, "I look around first."),
        *_call(1, "read", {"path": "src/letters/folders.py"}, _MODULE),
        *_call(2, "bash", {"command": "pytest -q"}, failed, "I run the tests to see it fail."),
        *_call(
            3,
            "edit",
            edit,
            "edited src/letters/folders.py",
            "`LETTER.match` returns nothing for other names, and archive/ is one of them. I let "
            "such names count as older than every letter.",
        ),
        *_call(4, "bash", {"command": "pytest -q"}, passed),
    ]


RUNS: Final[dict[str, Callable[[], Run]]] = {
    "A return and a cancellation": _support,
    "A fix": _coding,
}
