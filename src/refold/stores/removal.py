"""Where removals were before they moved to `refold.stores.upkeep`."""

from __future__ import annotations

from refold.stores.upkeep import RemovalNote, expire, forget, name_digest, read_audit

__all__ = ["RemovalNote", "expire", "forget", "name_digest", "read_audit"]
