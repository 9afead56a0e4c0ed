"""`refold store`: look after a store of originals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from refold.cli.options import command, help_of
from refold.cli.terminal import clean, say, working, write_json
from refold.errors import StoreError
from refold.stores.base import OpenStore, Removed
from refold.stores.opening import KEYS, is_missing, is_same_file, open_store, without_secrets
from refold.stores.upkeep import (
    OnProgress,
    copy_store,
    expire,
    export_store,
    forget,
    import_store,
    name_digest,
    read_audit,
    stat_store,
    verify_store,
)

_HELP: Final = f"""Count, verify, copy and clear what is in a store of originals.

Examples:
  refold store stat originals.db
  refold store copy originals.db s3://bucket/originals
  refold store gc redis://cache/0 --older-than 90d
  refold store forget originals.db --conversation ann --reason "asked by mail"

A store is an SQLite file, or postgresql://..., redis://..., s3://...,
gs://..., az://... or file:///folder. {KEYS} has the keys of an
encrypted one: base64 of 32 bytes each, the one to encrypt with first."""
store_command = click.Group("store", **help_of(_HELP))

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGE: Final = re.compile(r"([0-9]{1,9})([smhdw])").fullmatch
_LISTED: Final = 20
"""How many scopes or damaged entries are listed, so that everything fits on a terminal."""


def _read_age(age: str) -> float:
    """Parse an age such as `90d` into seconds."""
    parts = _AGE(age)
    if parts is None:
        raise click.BadParameter(f"{age!r} is not an age; write 30s, 15m, 12h, 90d or 8w")
    return float(int(parts[1]) * _UNITS[parts[2]])


_STORE: Final = ("STORE",)
_FILE: Final = ("FILE",)
_SCOPE: Final[dict[str, Any]] = {
    "store": _STORE,
    "tenant": ("--tenant NAME", "Only in this scope."),
    "conversation": ("--conversation NAME", "Only of this conversation."),
    "reason": ("--reason TEXT", "Recorded with the removal."),
}


@contextmanager
def _reading(
    address: str, what: str, *, quiet: bool = False, keys: tuple[bytes, ...] | None = None
) -> Iterator[tuple[OpenStore, OnProgress]]:
    """Open a store to read all of it; yield it with what counts the entries that are done."""
    opened = open_store(address, read_only=True, keys=keys)
    with opened, working(what, quiet=quiet) as progress:
        yield opened, progress.counting(0 if quiet else len(opened))


@command(store_command, store=_STORE)
def stat(store: str, as_json: bool) -> None:
    """Show how much is in a store, and whose it is."""
    with _reading(store, "counting") as (opened, count):
        figures = stat_store(opened, on_progress=count)
    if as_json:
        write_json(figures.to_dict())
        return
    click.echo(f"{figures.entries:,} originals · {figures.size:,} bytes")
    if figures.oldest is not None and figures.newest is not None:
        click.echo(f"put from {_time(figures.oldest)[:10]} to {_time(figures.newest)[:10]}")
    for name, entries in figures.scopes.most_common(_LISTED):
        who = clean(name) or "(no name)"
        click.echo(f"  {who}: {entries:,} originals · {figures.sizes[name]:,} bytes")
    if len(figures.scopes) > _LISTED:
        click.echo(f"  and {len(figures.scopes) - _LISTED:,} more")
    if figures.notes:
        click.echo(f"{figures.notes:,} notes of removals: see refold store audit")


@command(store_command, store=_STORE)
def verify(store: str, quiet: bool) -> int:
    """Read everything in a store and check its digests.

    Exits with 1 if something is damaged, or encrypted and read without its keys.
    """
    with _reading(store, "reading", quiet=quiet) as (opened, count):
        verdict = verify_store(opened, on_progress=count)
    for key in verdict.damaged[:_LISTED]:
        click.echo(f"damaged: {clean(key)}")
    if len(verdict.damaged) > _LISTED:
        click.echo(f"and {len(verdict.damaged) - _LISTED:,} more")
    if verdict.sealed:
        click.echo(f"encrypted, and not checked without {KEYS}: {verdict.sealed:,}")
    if verdict.locked:
        click.echo(f"not checked: {verdict.locked:,} ({clean(verdict.why_locked)})")
    say(f"{verdict.entries:,} originals · {len(verdict.damaged):,} damaged", quiet=quiet)
    return 1 if verdict.damaged or verdict.sealed or verdict.locked else 0


@command(
    store_command,
    source=("SOURCE",),
    target=("TARGET",),
    encrypt=("--encrypt", "SOURCE is plain; only TARGET is encrypted."),
    decrypt=("--decrypt", "SOURCE is encrypted; TARGET will be plain."),
)
def copy(source: str, target: str, encrypt: bool, decrypt: bool, quiet: bool) -> None:
    """Copy a store into another. Encrypts with the first key, if there is one; safe to repeat."""
    if source == target or is_same_file(source, target):
        raise click.UsageError(f"SOURCE and TARGET are the same store: {without_secrets(source)}")
    with (
        _reading(source, "copying", quiet=quiet, keys=() if encrypt else None) as (old, count),
        open_store(target, keys=() if decrypt else None) as new,
    ):
        done = copy_store(old, new, on_progress=count)
    say(f"{done:,} originals copied to {without_secrets(target)}", quiet=quiet)


@command(store_command, store=_STORE, file=_FILE)
def export(store: str, file: str, quiet: bool) -> None:
    """Write a store to a file of JSON lines. Compressed for .gz and .zst; never encrypted."""
    with _reading(store, "writing", quiet=quiet) as (opened, count):
        done = export_store(opened, Path(file), on_progress=count)
    say(f"{done:,} originals written to {file}", quiet=quiet)


@command(store_command, store=_STORE, file=_FILE)
def import_command(store: str, file: str, quiet: bool) -> None:
    """Put an export into a store. Safe to repeat."""
    with open_store(store) as opened, working("reading", quiet=quiet) as progress:
        done = import_store(opened, Path(file), on_share=progress.counting(1))
    say(f"{done:,} originals read from {file}", quiet=quiet)


@command(
    store_command,
    **_SCOPE,
    older_than_seconds=(
        "--older-than AGE",
        "An age such as 12h or 90d, counted from when an original was first stored.",
        _read_age,
    ),
)
def gc(store: str, quiet: bool, reason: str = "", **scope: Any) -> None:
    """Remove originals that were stored long ago, and free their space."""
    if scope["older_than_seconds"] is None:
        raise click.UsageError("say how old with --older-than AGE, such as 90d")
    _remove(store, lambda opened: expire(opened, reason=reason, **scope), quiet)


@command(store_command, **_SCOPE)
def forget_command(store: str, quiet: bool, reason: str = "", **scope: Any) -> None:
    """Remove all originals of a conversation or a tenant, for good. Recorded: see audit."""
    if scope["tenant"] is None and scope["conversation"] is None:
        raise click.UsageError("name what to forget with --conversation, --tenant, or both")
    _remove(store, lambda opened: forget(opened, reason=reason, **scope), quiet)


def _remove(address: str, remove: Callable[[OpenStore], Removed], quiet: bool) -> None:
    if is_missing(address):  # it would be made
        raise StoreError(f"cannot open the store {address!r}: there is no such file")
    with open_store(address) as opened, working("removing", quiet=quiet):
        removed = remove(opened)
        opened.shrink()
    say(f"{removed.entries:,} originals removed · {removed.size:,} bytes", quiet=quiet)


@command(store_command, **_SCOPE)
def audit(store: str, tenant: str | None, conversation: str | None, as_json: bool) -> None:
    """Show what was removed, when and why. Names are kept as digests."""
    with open_store(store, read_only=True) as opened:
        notes = [
            note
            for note in read_audit(opened)
            if (tenant is None or note.tenant == name_digest(tenant))
            and (conversation is None or note.conversation == name_digest(conversation))
        ]
    if as_json:
        write_json([asdict(note) for note in notes])
        return
    for note in notes:
        words = [
            _time(note.at),
            f"{note.action} {note.stage}",
            f"tenant {note.tenant[:12]}" if note.tenant else "",
            f"conversation {note.conversation[:12]}" if note.conversation else "",
            f"put before {_time(note.before)[:10]}" if note.before is not None else "",
            f"{note.entries:,} originals" if note.stage == "done" else "",
            clean(note.reason),
        ]
        click.echo(" · ".join(filter(None, words)))


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
