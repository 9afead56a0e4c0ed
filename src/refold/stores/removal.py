"""Delete originals, by age or on request, and keep audit notes of that.

A note says what was removed, when, how much, and why. Names in it are digests, because a person who
asks to be forgotten wants that for the name, too. Each removal has one note before and one after
it, so that interrupted removals show.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from refold.checks import check_name, check_number
from refold.errors import ConfigError, StoreError
from refold.messages.wire import text_digest
from refold.stores.base import AUDIT_PREFIX, ManagedStore, Removed, Store, managed
from refold.stores.scope import period_of, scope_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalNote:
    """An audit note about a removal."""

    action: Literal["forget", "expire"]
    stage: Literal["begun", "done"]
    at: float
    """When, in seconds since 1970."""
    tenant: str = ""
    """The digest of the name; see `name_digest`."""
    conversation: str = ""
    before: float | None = None
    entries: int = 0
    size: int = 0
    reason: str = ""


def name_digest(name: str | None) -> str:
    """Return the digest by which a note names a conversation or a tenant."""
    return "" if name is None else text_digest(name)


def forget(
    store: Store,
    conversation: str | None = None,
    *,
    tenant: str | None = None,
    reason: str = "",
    clock: Callable[[], float] = time.time,
) -> Removed:
    """Remove all originals of a conversation, of one in a tenant's scope, or of a whole tenant.

    Its stand-ins can then no longer be unfolded. Give conversations names: the originals of those
    without a name cannot be told apart.
    """
    if conversation is None and tenant is None:
        raise ConfigError("forget() needs the name of a conversation, of a tenant, or both")
    names = {"tenant": tenant, "conversation": conversation}
    return _remove(store, "forget", **names, before=None, reason=reason, clock=clock)


def expire(
    store: Store,
    *,
    older_than_seconds: float,
    tenant: str | None = None,
    conversation: str | None = None,
    reason: str = "",
    clock: Callable[[], float] = time.time,
) -> Removed:
    """Remove originals that were first stored longer ago, of everybody or of a tenant."""
    check_number("older_than_seconds", older_than_seconds)
    before = clock() - older_than_seconds
    names = {"tenant": tenant, "conversation": conversation}
    return _remove(store, "expire", **names, before=before, reason=reason, clock=clock)


def read_audit(store: Store) -> list[RemovalNote]:
    """Return the notes of all removals, the oldest first."""
    keys = sorted(entry.key for entry in managed(store).entries(AUDIT_PREFIX))
    try:
        return [RemovalNote(**value) for value in store.get(keys).values()]
    except TypeError as error:
        raise StoreError(f"a note of a removal is not readable ({error})") from error


def _remove(
    store: Store,
    action: Literal["forget", "expire"],
    *,
    tenant: str | None,
    conversation: str | None,
    before: float | None,
    reason: str,
    clock: Callable[[], float],
) -> Removed:
    for kind, name in (("tenant", tenant), ("conversation", conversation)):
        if name is not None:
            check_name(kind, name)
    place = managed(store)
    about: dict[str, Any] = {
        "action": action,
        "tenant": name_digest(tenant),
        "conversation": name_digest(conversation),
        "before": before,
        "reason": reason,
    }
    number = f"{AUDIT_PREFIX}{math.floor(clock() * 1e6):020}:{secrets.token_hex(8)}"
    store.put({f"{number}:1": asdict(RemovalNote(stage="begun", at=clock(), **about))})
    starts = _starts(place, tenant, conversation)
    removed = Removed.total(place.remove(start, before=before) for start in starts)
    note = RemovalNote(stage="done", at=clock(), **removed._asdict(), **about)
    store.put({f"{number}:2": asdict(note)})
    return removed


def _starts(store: ManagedStore, tenant: str | None, conversation: str | None) -> list[str]:
    """Return the prefixes of the keys to remove."""
    inner = "" if conversation is None else scope_prefix(conversation)
    if tenant is None or conversation is None:
        return [inner if tenant is None else scope_prefix(tenant)]
    outer = scope_prefix(tenant)
    # If the originals of a tenant expire, the time is between the two names.
    rests = (entry.key.removeprefix(outer) for entry in store.entries(outer))
    return [outer + period + inner for period in sorted({"", *map(period_of, rests)})]
