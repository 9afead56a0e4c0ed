"""An encrypted store: AES-GCM around any other store."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, Final

from refold.checks import need
from refold.errors import ConfigError, StoreError
from refold.stores.base import Entry, OpenStore, Removed, Store, WrappedStore, managed
from refold.stores.codec import Compression, encode_key, pack, parse_json, spell_json, unpack

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_ID_BYTES: Final = 4
"""The sizes of an AES-256 key, of a GCM nonce, and of a digest that distinguishes a few keys."""
_MARK: Final = "sealed:"
"""The beginning of a value that was encrypted here."""


class LockedError(StoreError):
    """A value may be intact, but cannot be read with these keys."""


class EncryptedStore(WrappedStore, OpenStore):
    """Encrypts what goes into *store* and decrypts what comes out; needs `refold[encryption]`.

    *keys* are 32 random bytes each (`EncryptedStore.new_key()`). The first encrypts; all of them
    decrypt. To introduce a new key, put it first; to retire an old one, copy the store into another
    (`refold store copy`), which encrypts everything with the first. Take a new key before one has
    encrypted four billion originals, which is the limit of AES-GCM.

    A value is bound to its key in the store: moved to another one, it is refused. The keys of a
    store are not encrypted: they are digests, and the names of conversations and tenants.
    """

    def __init__(
        self, store: Store, keys: bytes | Sequence[bytes], *, compression: Compression = "zlib"
    ) -> None:
        super().__init__(store)
        ring = [keys] if isinstance(keys, bytes) else list(keys)
        if not ring or any(not isinstance(k, bytes) or len(k) != KEY_BYTES for k in ring):
            raise ConfigError(
                f"keys must be {KEY_BYTES} bytes each, such as EncryptedStore.new_key()"
            )
        need_here = partial(need, extra="encryption", what="an EncryptedStore", error=StoreError)
        aead = need_here("cryptography.hazmat.primitives.ciphers.aead")
        self._keys = tuple(ring)
        self._compression: Compression = compression
        self._ciphers: dict[bytes, Any] = {id_of(key): aead.AESGCM(key) for key in ring}
        self._refusal: type[Exception] = need_here("cryptography.exceptions").InvalidTag

    @staticmethod
    def new_key() -> bytes:
        """Return a random key. Keep it safe: without it nothing can be decrypted."""
        return os.urandom(KEY_BYTES)

    def _inward(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        """Pack the values, then encrypt them: encrypted data cannot be packed."""
        key_id, cipher = next(iter(self._ciphers.items()))
        sealed = {}
        for key, value in entries.items():
            raw, nonce = encode_key(key), os.urandom(_NONCE_BYTES)
            data = pack(raw, spell_json(key, value), self._compression)
            secret = key_id + nonce + cipher.encrypt(nonce, data, raw)
            # Any store takes text. The packing of that store undoes what base64 adds.
            sealed[key] = _MARK + base64.b64encode(secret).decode()
        return sealed

    def _outward(self, wanted: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self._decrypt(key, values[key]) for key in wanted if key in values}

    def _decrypt(self, key: str, value: Any) -> Any:
        if not is_sealed(value):
            why = "it is not encrypted; `refold store copy --encrypt` makes a store that is"
            raise LockedError(self._explain(key, why))
        try:
            data = base64.b64decode(value.removeprefix(_MARK), validate=True)
        except ValueError as error:
            raise StoreError(self._explain(key, "it is damaged")) from error
        key_id, nonce = data[:_ID_BYTES], data[_ID_BYTES : _ID_BYTES + _NONCE_BYTES]
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            why = f"it needs the key {key_id.hex()}, which was not given"
            raise LockedError(self._explain(key, why))
        raw = encode_key(key)
        try:
            plain = cipher.decrypt(nonce, data[_ID_BYTES + _NONCE_BYTES :], raw)
            return parse_json(unpack(raw, plain))
        except (self._refusal, ValueError) as error:
            why = "it is damaged, or was put under another key"
            raise StoreError(self._explain(key, why)) from error

    def _explain(self, key: str, reason: str) -> str:
        return f"cannot read {self._store!r}: the value of {key!r} cannot be decrypted: {reason}"

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """Yield the entries whose keys begin with *prefix*."""
        return managed(self._store).entries(prefix)

    def remove(self, prefix: str = "", *, before: float | None = None) -> Removed:
        """Remove the entries whose keys begin with *prefix*, if they were stored before a time."""
        return managed(self._store).remove(prefix, before=before)

    def shrink(self) -> None:
        """Free the space of what was removed, if the inner store can."""
        if hasattr(self._store, "shrink"):
            self._store.shrink()

    def close(self) -> None:
        """Close the inner store, if it can be closed."""
        if hasattr(self._store, "close"):
            self._store.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy with the keys, as the store itself does."""
        again = partial(type(self), self._store, self._keys, compression=self._compression)
        return again, ()

    def __len__(self) -> int:
        return sum(1 for _ in self.entries())

    def __repr__(self) -> str:
        return f"EncryptedStore({self._store!r})"


def is_sealed(value: object) -> bool:
    """Return whether *value* was encrypted by an `EncryptedStore` and read without its keys."""
    return isinstance(value, str) and value.startswith(_MARK)


def id_of(key: bytes) -> bytes:
    """Return the id by which a value names its encryption key, without revealing the key."""
    return blake2b(key, digest_size=_ID_BYTES, person=b"refold key id").digest()
