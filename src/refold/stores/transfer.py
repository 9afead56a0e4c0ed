"""Where exports were before they moved to `refold.stores.upkeep`."""

from __future__ import annotations

from refold.stores.upkeep import export_store, import_store

__all__ = ["export_store", "import_store"]
