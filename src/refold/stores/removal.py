"""Delete originals, by age or on request, and keep an audit note of it.

A note says what was removed, when, how much, and why: the names in it are digests, because whoever
asks to be forgotten asks that of the name as well. Each removal has two, one before anything goes
and one after: what was broken off in the middle shows.
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
    """What a store notes about a removal."""

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
    """Return what a note calls a conversation or a tenant of that name."""
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

    Its stand-ins can then not be unfolded any more. Those of a conversation without a name cannot
    be told from others: give conversations names.
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
    """Remove originals that were first put longer ago than that, of everybody or of a tenant."""
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
    """Return how the keys begin that are meant."""
    inner = "" if conversation is None else scope_prefix(conversation)
    if tenant is None or conversation is None:
        return [inner if tenant is None else scope_prefix(tenant)]
    outer = scope_prefix(tenant)
    # Where a tenant's originals expire, the time stands between the two names.
    rests = (entry.key.removeprefix(outer) for entry in store.entries(outer))
    return [outer + period + inner for period in sorted({"", *map(period_of, rests)})]
