"""Open the store at an address: a file, a database, a cache, a bucket."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from refold.errors import ConfigError
from refold.stores.base import OpenStore
from refold.stores.sqlite import SqliteStore

_SECRET = ("password", "secret", "token", "key", "sas")


def without_secrets(url: str) -> str:
    """Return *url* without its password and the secrets in its query, to show in logs."""
    from urllib.parse import parse_qsl, quote, urlencode, urlsplit  # slow, and not for files

    try:
        parts = urlsplit(url)
    except ValueError:  # malformed address
        return url.partition("://")[0] + "://…"
    user, _, hosts = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if not any(w in name.lower() for w in _SECRET)]
    query = urlencode(kept, quote_via=quote)
    return parts._replace(netloc=f"{name}@{hosts}" if name else hosts, query=query).geturl()


KEYS: Final = "REFOLD_STORE_KEYS"
"""The environment variable with the keys in base64, the one to encrypt with first."""
_REDIS: Final = ("redis", "rediss", "unix", "redis+cluster")
_OBJECTS: Final = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "file")
_REMOTE: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(("postgresql", "postgres"), ("refold.stores.postgres", "PostgresStore")),
    **dict.fromkeys(_REDIS, ("refold.stores.redis", "RedisStore")),
    **dict.fromkeys(_OBJECTS, ("refold.stores.objects", "ObjectStore")),
}
"""The class for each scheme of an address; its module is imported when such a store is opened."""


def is_file(address: str | os.PathLike[str]) -> bool:
    """Return whether *address* is the path of an SQLite file."""
    return not isinstance(address, str) or "://" not in address


def is_missing(address: str | os.PathLike[str]) -> bool:
    """Return whether *address* is that of a file which does not exist."""
    return is_file(address) and not Path(address).exists()


def is_same_file(one: str, other: str) -> bool:
    """Return whether two addresses are those of the same file."""
    files = [Path(address) for address in (one, other) if is_file(address)]
    return len(files) == 2 and all(map(Path.exists, files)) and files[0].samefile(files[1])


def is_bucket(address: str) -> bool:
    """Return whether *address* is that of an `ObjectStore`, which reads whole conversations."""
    return not is_file(address) and _scheme(address) in _OBJECTS


def open_store(
    address: str | os.PathLike[str],
    *,
    keys: bytes | Sequence[bytes] | None = None,
    ttl_seconds: float | None = None,
    read_only: bool = False,
) -> OpenStore:
    """Open the store at *address*; close it, or use it in a `with`.

        with open_store("postgresql://localhost/originals") as store:
            result = compress(messages, token_budget=8_000, store=store)

    `refold.db` or `sqlite:///…` is a file. The other addresses are `postgresql://…`, `redis://…`
    (`rediss`, `unix`, `redis+cluster`), `s3://…`, `gs://…`, `az://…` and `file:///folder`.

    With *keys*, it is an `EncryptedStore`; by default they are read from `REFOLD_STORE_KEYS`, in
    base64, and `()` turns encryption off. *ttl_seconds* works for files and Redis. A *read_only*
    file must exist and is not written to; on a server, the user's rights decide.

    Raises `ConfigError` for an unknown kind of address, and `StoreError` if it cannot be opened.
    """
    if keys is None:
        keys = read_keys(os.environ)
    opened = _open(address, ttl_seconds, read_only)
    if not keys and not isinstance(keys, bytes):  # an empty key is a mistake
        return opened
    from refold.stores.encrypted import EncryptedStore

    try:
        return EncryptedStore(opened, keys)
    except BaseException:
        opened.close()
        raise


def read_keys(env: Mapping[str, str]) -> tuple[bytes, ...]:
    """Return the keys in *env*; an error about one does not show it."""
    words = env.get(KEYS, "").replace(",", " ").split()
    try:
        return tuple(base64.b64decode(word, validate=True) for word in words)
    except ValueError as error:
        raise ConfigError(
            f"{KEYS} must hold keys in base64; make one with `openssl rand -base64 32`"
        ) from error


def _open(address: str | os.PathLike[str], ttl_seconds: float | None, read_only: bool) -> OpenStore:
    if not isinstance(address, str) or is_file(address):
        return SqliteStore(address, ttl_seconds=ttl_seconds, read_only=read_only)
    scheme = _scheme(address)
    if scheme == "sqlite":
        return SqliteStore(_path(address), ttl_seconds=ttl_seconds, read_only=read_only)
    choices: dict[str, Any] = {}
    if scheme in _REDIS:
        choices["ttl_seconds"] = ttl_seconds
    elif ttl_seconds is not None:
        raise ConfigError(
            f"originals do not expire by themselves in a {scheme} store; "
            "remove them with `refold store gc`"
        )
    if scheme not in _REMOTE:
        raise ConfigError(
            f"no store has an address like {without_secrets(address)!r}; name a file, or begin "
            "with postgresql://, redis://, s3://, gs://, az:// or file://"
        )
    module, name = _REMOTE[scheme]
    opened: OpenStore = getattr(import_module(module), name)(address, **choices)
    return opened


def _scheme(url: str) -> str:
    return url.partition("://")[0].lower()


def _path(url: str) -> str:
    """Return the path in `sqlite:///relative.db` or `sqlite:////absolute.db`."""
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(url).path.removeprefix("/"))
