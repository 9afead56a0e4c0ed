"""Damaged stores: a byte that is not what it was is noticed, named, and never another's text."""

from __future__ import annotations

import copy
import json
import random
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from attacks.base import Area, Check
from attacks.talks import Messages, talk
from refold import MemoryStore, Session, SqliteStore, StoreError, uncompress

_BUDGET = 3_000


def run(scale: float, seed: int) -> Area:
    """Flip bytes in files and values, resume and unfold."""
    rng = random.Random(seed)
    resumed = Check("a damaged file is resumed exactly, or StoreError")
    values = Check("a damaged value is resumed exactly, or StoreError")
    unfolded = Check("a damaged file unfolds to what was said, or says what is missing")
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.db"
        messages = talk(rng, 120, chars=400)
        with SqliteStore(whole) as store:
            session = Session(token_budget=_BUDGET, store=store)
            for message in messages:
                session.append(message)
                view = session.view()
            key = session.save(store)
            shown = copy.deepcopy(view)
        _fold_wal(whole)
        for _ in range(max(10, int(1_500 * scale))):
            damaged = Path(folder) / "damaged.db"
            damaged.write_bytes(_flipped(whole.read_bytes(), rng))
            _try_resume(resumed, damaged, key, messages, shown)
            _try_unfold(unfolded, damaged, shown, messages)
            for path in Path(folder).glob("damaged.db*"):
                path.unlink()
    _flip_values(values, rng, max(10, int(1_500 * scale)))
    return Area("flips", [resumed, values, unfolded])


def _fold_wal(path: Path) -> None:
    """Put everything into the one file."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def _flipped(data: bytes, rng: random.Random) -> bytes:
    """Change one to four bytes, or cut the end off."""
    if rng.random() < 0.05:
        return data[: rng.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _try_resume(check: Check, path: Path, key: str, messages: Messages, shown: Messages) -> None:
    try:
        with SqliteStore(path) as store:
            session = Session.resume(key, store)
            same = session.messages == messages and session.view() == shown
            same = same and uncompress(shown, session.verbatim).messages == messages
            check.record(not same, "resumed to something else")
    except StoreError as error:
        check.record(not str(error), "an error without words")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
        check.record(True, f"{type(error).__name__}: {error}")


def _try_unfold(check: Check, path: Path, shown: Messages, messages: Messages) -> None:
    try:
        with SqliteStore(path, read_only=True) as store:
            result = uncompress(shown, store)
    except StoreError as error:
        check.record(not str(error), "an error without words")
        return
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
        check.record(True, f"{type(error).__name__}: {error}")
        return
    told = {json.dumps(message) for message in (*messages, *shown)}
    others = [m for m in result.messages if json.dumps(m) not in told and "[" not in str(m)[:60]]
    is_silent = result.messages != messages and not result.missing_ids
    is_silent = is_silent and not result.messages_unknown
    check.record(bool(others) or is_silent, "other text" if others else "something lacks silently")


class _Damaged:
    """A store of which one value is not what it was."""

    def __init__(self, store: MemoryStore, rng: random.Random) -> None:
        self._store = store
        self._rng = rng
        self._left = rng.randrange(6)

    def put(self, entries: Any) -> None:
        """Keep nothing."""

    def get(self, keys: Any) -> dict[str, Any]:
        """Return what is known, once with something changed in it."""
        found = self._store.get(keys)
        self._left -= 1
        if found and self._left < 0:
            key = self._rng.choice(list(found))
            found[key] = _changed(found[key], self._rng)
            self._left = 10**9
        return found


def _changed(value: Any, rng: random.Random) -> Any:
    """Change something somewhere in a value, or put another one in its place."""
    if rng.random() < 0.1:
        return rng.choice((None, 3, "x", [], {}, [[]], {"role": "user"}))
    if isinstance(value, dict) and value:
        name = rng.choice(list(value))
        if rng.random() < 0.2:
            return {other: item for other, item in value.items() if other != name}
        return {**value, name: _changed(value[name], rng)}
    if isinstance(value, list) and value:
        place = rng.randrange(len(value))
        return [*value[:place], _changed(value[place], rng), *value[place + 1 :]]
    if isinstance(value, str) and value:
        place = rng.randrange(len(value))
        return f"{value[:place]}{chr(ord(value[place]) ^ 1)}{value[place + 1 :]}"
    return 1 if value is None else None


def _flip_values(check: Check, rng: random.Random, tries: int) -> None:
    messages = talk(rng, 60, chars=400, ids=True)
    store = MemoryStore()
    session = Session(token_budget=_BUDGET)
    for message in messages:
        session.append(message)
        view = session.view()
    key = session.save(store)
    for _ in range(tries):
        try:
            again = Session.resume(key, _Damaged(store, rng))
            check.record(again.messages != messages or again.view() != view, "something else")
        except StoreError as error:
            check.record(key not in str(error), f"it does not say where: {error}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
            check.record(True, f"{type(error).__name__}: {error}")
