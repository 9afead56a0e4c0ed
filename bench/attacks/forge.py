"""Text that somebody types stays what it is, and brings back nothing.

Users who guess stand-ins, who paste those of other conversations or of their own, before and after
the real ones; models that ask for handles that are not theirs; and `metadata` that refold did not
write for that very message.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from string import ascii_lowercase
from typing import Any, Final

from attacks.base import Area, Check
from attacks.reports import talk, with_ids
from refold import MemoryStore, Session, compress, retrieve_tool, uncompress
from refold.messages.wire import clone, digest
from refold.notation.marks import ANCHOR_CHARS, HANDLE_CHARS, excerpt
from refold.options import Profile

_TRIES = 100_000
_VICTIMS = 2_000
_TURNS = 4
_SHOWN: Final = re.compile("#([a-z]+)")
"""A handle or an anchor, as a stand-in shows it."""

Wire = dict[str, Any]
View = list[Wire]


class Town:
    """Many conversations in one store, half of them with names, and their stand-ins.

    Of a conversation without a name the first stand-in has a long handle: who has all of it can go
    on with the conversation. It is no forgery to paste that one, letter by letter. Sessions show
    short ones only, and are known by all that was said before.
    """

    def __init__(self, victims: int, seed: int) -> None:
        self.store = MemoryStore()
        self.seed = seed
        self.random = Random(seed)
        self.views: list[View] = []
        self.named: list[View] = []
        self.sessions: list[View] = []
        for number in range(victims):
            messages = talk(Random(f"victim/{seed}/{number}"), _TURNS)
            name = f"customer-{number}" if number % 2 else None
            profile: Profile = "standard" if number % 4 < 2 else "classic"
            view = compress(
                messages, store=self.store, recency_window=0, conversation=name, profile=profile
            ).messages
            (self.views if name is None else self.named).append(_folded(view, messages))
            session = Session[Wire](store=self.store, recency_window=0, profile=profile)
            session.extend(messages)
            self.sessions.append(_folded(session.refold(), messages))

    def letters(self, count: int) -> str:
        """Guess a handle."""
        return "".join(self.random.choices(ascii_lowercase, k=count))

    def text_of(self, view: View) -> str:
        """Return the words of one of the stand-ins of a view."""
        return str(self.random.choice(view)["content"])


def _folded(view: View, messages: View) -> View:
    return [now for now, was in zip(view, messages, strict=True) if now != was]


def _mark(town: Town) -> str:
    return excerpt("", town.letters(HANDLE_CHARS))


def _summary(town: Town) -> str:
    """Guess the handle of a stand-in whose words are known."""
    length = town.random.choice((HANDLE_CHARS, ANCHOR_CHARS))
    words = town.text_of(town.random.choice(town.views))
    return _SHOWN.sub(f"#{town.letters(length)}", words, count=1)


def _cut_anchor(town: Town) -> str:
    """Show only the beginning of an anchor, as a glance over a shoulder may catch it."""
    first = town.random.choice(town.views)[0]["content"]
    shown = _SHOWN.search(first)
    assert shown is not None
    assert len(shown[1]) > HANDLE_CHARS + 4, f"not a long handle: {first}"
    return str(first).replace(shown[1], shown[1][: HANDLE_CHARS + 4])


def _later_one(town: Town) -> str:
    """Paste a stand-in of somebody else that is not the first."""
    return str(town.random.choice(town.random.choice(town.views)[1:])["content"])


def _guessed_in_a_session(town: Town) -> str:
    """Guess the letters of a session's first stand-in, of which all else is known."""
    words = str(town.random.choice(town.sessions)[0]["content"])
    return _SHOWN.sub(f"#{town.letters(HANDLE_CHARS)}", words, count=1)


def _of_a_session(town: Town) -> str:
    """Paste a stand-in of a session's, without what comes before it there."""
    return town.text_of(town.random.choice(town.sessions)[1:])


def _of_a_named_one(town: Town) -> str:
    return town.text_of(town.random.choice(town.named))


_TYPED: dict[str, Callable[[Town], str]] = {
    "a guessed mark": _mark,
    "a guessed summary": _summary,
    "the beginning of another's anchor": _cut_anchor,
    "another's later stand-in": _later_one,
    "a guessed handle of a session": _guessed_in_a_session,
    "another's stand-in, from a session": _of_a_session,
    "another's stand-in, from a conversation with a name": _of_a_named_one,
}


def run(scale: float, seed: int) -> Area:
    """Type and paste; whatever was typed must come back as it was typed, and nothing else."""
    town = Town(max(20, int(scale * _VICTIMS)), seed)
    tries = max(5, int(scale * _TRIES / (len(_TYPED) + 3)))
    checks = [_typed(town, name, make, tries) for name, make in _TYPED.items()]
    checks += [_named(town, tries), _own_words(town, tries), _asked(town, tries)]
    files = Files(max(10, int(scale * _VICTIMS / 4)), seed)
    checks += [_forged(files, name, make, tries) for name, make in _FORGERIES.items()]
    return Area("forge", [*checks, _honest(files)])


def _typed(town: Town, name: str, make: Callable[[Town], str], tries: int) -> Check:
    check = Check(f"typed: {name}")
    for _ in range(tries):
        check.record(*_survives(town, make(town), None))
    return check


def _named(town: Town, tries: int) -> Check:
    """Paste anything of anybody, anchors too, where conversations have names."""
    check = Check("typed: anything of anybody, in a conversation with a name")
    for number in range(tries):
        view = town.random.choice(town.random.choice((town.views, town.named)))
        check.record(*_survives(town, town.text_of(view), f"attacker-{number % 100}"))
    return check


def _survives(town: Town, text: str, name: str | None) -> tuple[bool, str]:
    """Fold and unfold a conversation in which *text* was typed; tell whether that broke it."""
    role = town.random.choice(("user", "assistant"))
    messages = [{"role": role, "content": text}, *talk(town.random, 1)]
    seen = uncompress(messages, town.store, conversation=name).messages
    window = town.random.choice((0, 1, 2))
    folded = compress(messages, store=town.store, recency_window=window, conversation=name)
    back = uncompress(folded.messages, town.store, conversation=name).messages
    return seen != messages or back != messages, f"{text!r} became {back!r}"


def _own_words(town: Town, tries: int) -> Check:
    """Paste stand-ins of one's own conversation into it, anywhere, and fold again and again."""
    check = Check("pasted: stand-ins of the same conversation, over three rounds")
    for number in range(max(1, tries // 10)):
        name = None if number % 2 else f"own-{number}"
        whole = talk(Random(f"own/{number}/{tries}"), _TURNS)
        store, view = MemoryStore(), whole
        for _ in range(3):
            window = town.random.choice((0, 1, 3))
            view = compress(view, store=store, recency_window=window, conversation=name).messages
            pasted = [
                {"role": town.random.choice(("user", "assistant")), "content": message["content"]}
                for message in town.random.sample(view, k=min(2, len(view)))
            ]
            view, whole = [*view, *pasted], [*whole, *pasted]
        back = uncompress(view, store, conversation=name).messages
        check.record(back != whole, f"conversation {number}: {back!r}")
    return check


def _asked(town: Town, tries: int) -> Check:
    """Let a model ask for handles that it has never been shown."""
    check = Check("asked: handles of others, by a model")
    mine = compress(talk(Random("mine"), 2), store=town.store, recency_window=0).messages
    tools = [
        retrieve_tool(town.store, messages=mine),
        retrieve_tool(town.store, messages=mine, conversation="mine"),
    ]
    keys = [digest(message) for message in talk(Random(f"victim/{town.seed}/0"), _TURNS)]
    for _ in range(tries):
        words = town.text_of(town.random.choice((*town.named, *town.sessions)))
        seen = _SHOWN.findall(words)[0]
        guessed = town.letters(HANDLE_CHARS)
        handle = town.random.choice((guessed, seen, *keys))  # keys: from a dump of the store
        answer = town.random.choice(tools).call({"handle": handle})
        check.record(not answer.startswith("[there is no original"), f"{handle}: {answer}")
    return check


class Files:
    """Conversations with ids in one store, and what they look like folded."""

    def __init__(self, victims: int, seed: int) -> None:
        self.store = MemoryStore()
        self.random = Random(seed)
        self.originals: list[list[Wire]] = []
        self.views: list[list[Wire]] = []
        for number in range(victims):
            messages = with_ids(talk(Random(f"file/{seed}/{number}"), _TURNS))
            folded = compress(
                messages, store=self.store, recency_window=0, conversation=_name(number)
            )
            self.originals.append(messages)
            self.views.append(folded.messages)

    def stolen(self) -> Wire:
        """Return the stand-in of somebody else."""
        stolen: Wire = clone(self.random.choice(self.random.choice(self.views)))
        return stolen


def _name(number: int) -> str:
    return f"file-{number}"


def _copied(files: Files) -> Wire:
    """Copy a whole stand-in into another conversation."""
    return files.stolen()


def _moved(files: Files) -> Wire:
    """Put the provenance of one message onto another text."""
    return {**files.stolen(), "content": "What did the customer say?"}


def _renamed(files: Files) -> Wire:
    return {**files.stolen(), "id": f"other-{files.random.random()}"}


def _made_up(files: Files) -> Wire:
    """Name an original by its digest, as somebody might who knows what refold does."""
    original = files.random.choice(files.random.choice(files.originals))
    behind = {"ids": [original["id"]], "summary_id": "x", "digests": [digest(original)]}
    wire: Wire = {"id": "m0", "role": "user", "content": "[summary: so]"}
    wire["metadata"] = {"_cce_original": {**behind, "version": 0}}
    return wire


def _raw_key(files: Files) -> Wire:
    """Name a key of the store, as other tools name originals."""
    original = files.random.choice(files.random.choice(files.originals))
    behind = {"ids": [digest(original)], "summary_id": "x", "version": 0}
    return {
        "id": "m0",
        "role": "user",
        "content": "[summary: so]",
        "metadata": {"_cce_original": behind},
    }


_FORGERIES: dict[str, Callable[[Files], Wire]] = {
    "copied from another conversation": _copied,
    "moved to another text": _moved,
    "under another id": _renamed,
    "made up from a known digest": _made_up,
    "made up from a key of the store": _raw_key,
}


def _forged(files: Files, name: str, make: Callable[[Files], Wire], tries: int) -> Check:
    check = Check(f"forged: {name}")
    for _ in range(tries):
        messages = [make(files)]
        foreign = files.random.random() < 0.5
        back = uncompress(
            messages, files.store, conversation="attacker", accept_foreign=foreign
        ).messages
        folded = compress(messages, store=files.store, conversation="attacker").messages
        again = uncompress(folded, files.store, conversation="attacker").messages
        check.record(back != messages or again != messages, f"{messages!r} became {back!r}")
    return check


def _honest(files: Files) -> Check:
    check = Check("true provenance is believed")
    for number, (messages, view) in enumerate(zip(files.originals, files.views, strict=True)):
        back = uncompress(view, files.store, conversation=_name(number)).messages
        check.record(back != messages, f"file {number}")
    return check
