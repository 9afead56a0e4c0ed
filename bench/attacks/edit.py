"""Views that somebody edits: what comes back is right, or it is said that something did not.

With ids and a name every kind of edit comes back by itself, and without ids if the caller says that
the view was edited. What stands behind the last stand-in, and the system prompt, may always change.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from attacks.base import Area, Check
from attacks.talks import talk
from refold import MemoryStore, compress, uncompress
from refold.messages.wire import clone

_TRIES = 4_000
_BUDGETS = (None, 300, 600, 1_200)

Wire = dict[str, Any]
View = list[Wire]
Edit = Callable[[View, list[int], Random], tuple[View, list[int]]]
"""Takes a view and the places of its stand-ins; returns it edited, and where each message was."""


def _prompt(view: View, _: list[int], random: Random) -> tuple[View, list[int]]:
    fresh = {**view[0], "content": f"Be brief. {random.random()}"}
    return [fresh, *view[1:]], [-1, *range(1, len(view))]


def _provider(view: View, _: list[int], random: Random) -> tuple[View, list[int]]:
    """Sort keys, add empty fields and marks of caches, write texts as blocks."""
    sent: View = json.loads(json.dumps(view, sort_keys=True))
    for message in sent:
        message["refusal"] = None
        if isinstance(message["content"], str) and random.random() < 0.5:
            block = {"cache_control": {"type": "ephemeral"}, "type": "text"}
            message["content"] = [{**block, "text": message["content"]}]
    return sent, [n if "#" in str(m["content"]) else -1 for n, m in enumerate(view)]


def _inserted(view: View, _: list[int], random: Random) -> tuple[View, list[int]]:
    place = random.randint(1, len(view) - 1)
    note = {"role": "user", "content": f"By the way, it is {random.random()}."}
    return [*view[:place], note, *view[place:]], [*range(place), -1, *range(place, len(view))]


def _dropped(view: View, stands: list[int], random: Random) -> tuple[View, list[int]]:
    gone = random.choice(stands)
    kept = [n for n in range(len(view)) if n != gone]
    return [view[n] for n in kept], kept


def _sliced(view: View, _: list[int], random: Random) -> tuple[View, list[int]]:
    start = random.randint(1, len(view) - 1)
    return view[start:], [*range(start, len(view))]


def _alone(view: View, stands: list[int], random: Random) -> tuple[View, list[int]]:
    place = random.choice(stands)
    return [view[place]], [place]


_FREE: dict[str, Edit] = {"another prompt": _prompt, "sent through a provider": _provider}
_EDITS: dict[str, Edit] = {
    "a message put in": _inserted,
    "a stand-in taken out": _dropped,
    "cut off at the front": _sliced,
    "one stand-in alone": _alone,
}


def run(scale: float, seed: int) -> Area:
    """Fold, edit and unfold."""
    tries = max(5, int(scale * _TRIES))
    checks = [
        _edited(name, edit, tries, seed, ids=ids, by_itself=ids or name in _FREE)
        for name, edit in {**_FREE, **_EDITS}.items()
        for ids in (False, True)
    ]
    return Area("edit", checks)


def _edited(name: str, edit: Edit, tries: int, seed: int, *, ids: bool, by_itself: bool) -> Check:
    check = Check(f"{name}, {'with' if ids else 'without'} ids{'' if by_itself else ', by flag'}")
    for number in range(tries):
        random = Random(f"edit/{name}/{ids}/{seed}/{number}")
        messages = talk(random, random.randint(5, 14), chars=300, ids=ids)
        store = MemoryStore()
        view = compress(
            messages, store=store, conversation="desk", token_budget=random.choice(_BUDGETS)
        )
        behind = [messages[place.start : place.stop] for place in view.places]
        stands = [n for n, m in enumerate(view.messages) if behind[n] != [m]]
        if not stands:
            continue
        changed, places = edit(clone(view.messages), stands, random)
        expected: View = []
        for message, place in zip(changed, places, strict=True):
            expected += behind[place] if place in stands else [message]
        back = uncompress(changed, store, conversation="desk", edited=not by_itself)
        plain = uncompress(changed, store, conversation="desk")
        is_silent = plain.messages != expected and plain.complete
        check.record(back.messages != expected or is_silent, f"{number}: {changed!r}")
    return check
