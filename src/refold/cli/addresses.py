"""Open the store that the command line names: a file or an address, encrypted if there are keys."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from typing import Final

from refold.errors import ConfigError
from refold.stores.opening import OpenStore, open_store

KEYS: Final = "REFOLD_STORE_KEYS"
"""The variable with the keys: base64 of 32 bytes each, the one to encrypt with first."""


def open_address(
    address: str | os.PathLike[str], *, read_only: bool = False, is_plain: bool = False
) -> OpenStore:
    """Open a store; with the keys of the environment, unless it *is_plain*."""
    keys = () if is_plain else read_keys(os.environ)
    return open_store(address, keys=keys, read_only=read_only)


def read_keys(env: Mapping[str, str]) -> tuple[bytes, ...]:
    """Return the keys that *env* has; what is wrong with one is said without showing it."""
    words = env.get(KEYS, "").replace(",", " ").split()
    try:
        return tuple(base64.b64decode(word, validate=True) for word in words)
    except ValueError as error:
        raise ConfigError(
            f"{KEYS} must hold keys in base64; make one with `openssl rand -base64 32`"
        ) from error
