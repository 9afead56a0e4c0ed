"""`refold store`: look after a store of originals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from refold.cli.terminal import clean, json_option, quiet_option, say, working, write_json
from refold.errors import StoreError
from refold.stores.base import OpenStore, Removed
from refold.stores.opening import KEYS, is_missing, is_same_file, open_store, without_secrets
from refold.stores.removal import RemovalNote, expire, forget, name_digest, read_audit
from refold.stores.transfer import export_store, import_store
from refold.stores.upkeep import StoreStat, copy_store, stat_store, verify_store

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGE: Final = re.compile(r"([0-9]{1,9})([smhdw])").fullmatch
_MOST_SCOPES: Final = 10
_MOST_DAMAGED: Final = 20
"""How many are listed, so that everything fits on a terminal."""

_EPILOG: Final = f"""\b
Examples:
  refold store stat originals.db
  refold store verify postgresql://refold@db/agents
  refold store copy originals.db s3://bucket/originals
  refold store export originals.db all.jsonl.gz
  refold store gc redis://cache/0 --older-than 90d
  refold store forget originals.db --conversation ann --reason "asked by mail"

\b
A store is an SQLite file, or postgresql://..., redis://..., s3://...,
gs://..., az://... or file:///folder. {KEYS} has the keys of an
encrypted one: base64 of 32 bytes each, the one to encrypt with first."""

store_argument = click.argument("store", metavar="STORE")
tenant_option = click.option("--tenant", metavar="NAME", help="Only what is in this scope.")
conversation_option = click.option(
    "--conversation", metavar="NAME", help="Only what belongs to this conversation."
)
reason_option = click.option("--reason", default="", help="Recorded with the removal.")


def _seconds(_: click.Context, __: click.Parameter, age: str) -> float:
    """Parse an age such as `90d` into seconds."""
    found = _AGE(age)
    if found is None:
        raise click.BadParameter(f"{age!r} is not an age; write 30s, 15m, 12h, 90d or 8w")
    return float(int(found[1]) * _UNITS[found[2]])


@click.group(epilog=_EPILOG)
def command() -> None:
    """Count, verify, copy and clear what is in a store of originals."""


@command.command()
@store_argument
@json_option
def stat(store: str, as_json: bool) -> None:
    """Show how much is in a store, and whose it is."""
    with open_store(store, read_only=True) as opened, working("counting") as progress:
        found = stat_store(opened, on_progress=progress.counting(opened.__len__))
    if as_json:
        write_json(found.to_dict())
    else:
        _draw_stat(found)


@command.command()
@store_argument
@quiet_option
def verify(store: str, quiet: bool) -> int:
    """Read everything in a store and check all digests.

    Exits with 1 if something is damaged, or encrypted and read without its keys.
    """
    with open_store(store, read_only=True) as opened, working("reading", quiet=quiet) as progress:
        verdict = verify_store(opened, on_progress=progress.counting(opened.__len__))
    for key in verdict.damaged[:_MOST_DAMAGED]:
        click.echo(f"damaged: {clean(key)}")
    if len(verdict.damaged) > _MOST_DAMAGED:
        click.echo(f"and {len(verdict.damaged) - _MOST_DAMAGED:,} more")
    if verdict.sealed:
        click.echo(f"encrypted, and not looked into without {KEYS}: {verdict.sealed:,}")
    if verdict.locked:
        click.echo(f"not looked into: {verdict.locked:,} ({clean(verdict.why_locked)})")
    say(f"{verdict.entries:,} originals · {len(verdict.damaged):,} damaged", quiet=quiet)
    return 1 if verdict.damaged or verdict.sealed or verdict.locked else 0


@command.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option("--encrypt", is_flag=True, help="SOURCE is plain; only TARGET is encrypted.")
@click.option("--decrypt", is_flag=True, help="SOURCE is encrypted; TARGET will be plain.")
@quiet_option
def copy(source: str, target: str, encrypt: bool, decrypt: bool, quiet: bool) -> None:
    """Copy a store into another. Encrypts with the first key, if there is one; safe to repeat."""
    if source == target or is_same_file(source, target):
        raise click.UsageError(f"SOURCE and TARGET are the same store: {without_secrets(source)}")
    with (
        open_store(source, read_only=True, keys=() if encrypt else None) as old,
        open_store(target, keys=() if decrypt else None) as new,
        working("copying", quiet=quiet) as progress,
    ):
        done = copy_store(old, new, on_progress=progress.counting(old.__len__))
    say(f"{done:,} originals copied to {without_secrets(target)}", quiet=quiet)


@command.command("export")
@store_argument
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@quiet_option
def export(store: str, file: Path, quiet: bool) -> None:
    """Write a store to a file of JSON lines. Compressed for .gz and .zst; never encrypted."""
    with open_store(store, read_only=True) as opened, working("writing", quiet=quiet) as progress:
        done = export_store(opened, file, on_progress=progress.counting(opened.__len__))
    say(f"{done:,} originals written to {file}", quiet=quiet)


@command.command("import")
@store_argument
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@quiet_option
def import_(store: str, file: Path, quiet: bool) -> None:
    """Put what export wrote into a store. Safe to repeat."""
    with open_store(store) as opened, working("reading", quiet=quiet) as progress:
        done = import_store(opened, file, on_share=progress.counting(lambda: 1))
    say(f"{done:,} originals read from {file}", quiet=quiet)


@command.command()
@store_argument
@click.option(
    "--older-than",
    "seconds",
    metavar="AGE",
    required=True,
    callback=_seconds,
    help="An age such as 12h or 90d, counted from when an original was first stored.",
)
@tenant_option
@conversation_option
@reason_option
@quiet_option
def gc(store: str, seconds: float, quiet: bool, **names: Any) -> None:
    """Remove originals that were stored long ago, and free their space."""
    with _open_existing(store) as opened, working("removing", quiet=quiet):
        removed = expire(opened, older_than_seconds=seconds, **names)
        opened.shrink()
    _say_removed(removed, quiet)


@command.command("forget")
@store_argument
@tenant_option
@conversation_option
@reason_option
@quiet_option
def forget_(store: str, quiet: bool, **names: Any) -> None:
    """Remove all originals of a conversation or a tenant, for good. Recorded: see audit."""
    if names["tenant"] is None and names["conversation"] is None:
        raise click.UsageError("name what to forget with --conversation, --tenant, or both")
    with _open_existing(store) as opened, working("removing", quiet=quiet):
        removed = forget(opened, names.pop("conversation"), **names)
        opened.shrink()
    _say_removed(removed, quiet)


@command.command()
@store_argument
@tenant_option
@conversation_option
@json_option
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
    else:
        _draw_notes(notes)


def _open_existing(address: str) -> OpenStore:
    """Open a store to remove from it: a missing file is an error, not a new store."""
    if is_missing(address):
        raise StoreError(f"cannot open the store {address!r}: there is no such file")
    return open_store(address)


def _say_removed(removed: Removed, quiet: bool) -> None:
    say(f"{removed.entries:,} originals removed · {removed.size:,} bytes", quiet=quiet)


def _draw_stat(found: StoreStat) -> None:
    click.echo(f"{found.entries:,} originals · {found.size:,} bytes")
    if found.oldest is not None and found.newest is not None:
        click.echo(f"put from {_day(found.oldest)} to {_day(found.newest)}")
    rows = found.scopes.most_common(_MOST_SCOPES)
    for name, entries in rows:
        who = clean(name) or "(no name)"
        click.echo(f"  {who}: {entries:,} originals · {found.sizes[name]:,} bytes")
    if len(found.scopes) > len(rows):
        click.echo(f"  and {len(found.scopes) - len(rows):,} more")
    if found.notes:
        click.echo(f"{found.notes:,} notes of removals: see refold store audit")


def _draw_notes(notes: Iterable[RemovalNote]) -> None:
    for note in notes:
        whose = [
            f"{kind} {digest[:12]}"
            for kind, digest in (("tenant", note.tenant), ("conversation", note.conversation))
            if digest
        ]
        older = [f"put before {_day(note.before)}"] if note.before is not None else []
        much = [f"{note.entries:,} originals"] if note.stage == "done" else []
        why = [clean(note.reason)] if note.reason else []
        fields = [_time(note.at), f"{note.action} {note.stage}", *whose, *older, *much, *why]
        click.echo(" · ".join(fields))


def _day(seconds: float) -> str:
    return _time(seconds)[:10]


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
