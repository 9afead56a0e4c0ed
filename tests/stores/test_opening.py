"""One way to open any store, by its address; no address gives its password away."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from refold.errors import ConfigError, StoreError
from refold.integrations.choices import CheckedChoices
from refold.stores import SqliteStore, open_store
from refold.stores.encrypted import EncryptedStore
from refold.stores.opening import without_secrets


def test_a_path_is_a_file(tmp_path: Path) -> None:
    for address in (tmp_path / "a.db", str(tmp_path / "b.db"), f"sqlite:///{tmp_path}/c.db"):
        with open_store(address) as store:
            store.put({"a": 1})
            assert isinstance(store, SqliteStore)
    assert {path.name for path in tmp_path.iterdir()} >= {"a.db", "b.db", "c.db"}


def test_integrations_take_an_address(tmp_path: Path) -> None:
    store = CheckedChoices({"store": f"sqlite:///{tmp_path}/a.db"}).store
    assert isinstance(store, SqliteStore)
    store.close()
    with pytest.raises(ConfigError, match="no store has an address like"):
        _ = CheckedChoices({"store": "mysql://host"}).store


def test_a_file_that_is_only_read(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such file"):
        open_store(tmp_path / "a.db", read_only=True)


def test_keys_encrypt(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    with open_store(tmp_path / "a.db", keys=bytes(32)) as store:
        store.put({"a": 1})
        assert store.get(["a"]) == {"a": 1}
    with open_store(tmp_path / "a.db") as store:
        assert store.get(["a"]) != {"a": 1}
    with pytest.raises(ConfigError, match="keys must be"):
        open_store(tmp_path / "a.db", keys=b"short")
    with pytest.raises(ConfigError, match="keys must be"):
        open_store(tmp_path / "a.db", keys=b"")


def test_keys_of_the_environment_encrypt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    monkeypatch.setenv("REFOLD_STORE_KEYS", base64.b64encode(bytes(32)).decode())
    for name, store in (
        ("library", open_store(tmp_path / "library.db")),
        ("integration", CheckedChoices({"store": tmp_path / "integration.db"}).store),
    ):
        assert isinstance(store, EncryptedStore)
        with store, open_store(tmp_path / f"{name}.db", keys=()) as plain:
            store.put({"a": "spoken"})
            assert str(plain.get(["a"])["a"]).startswith("sealed:")
            assert store.get(["a"]) == {"a": "spoken"}


@pytest.mark.parametrize("address", ["mysql://host/db", "https://host/x", "://", "s4://bucket"])
def test_an_address_that_nobody_knows(address: str) -> None:
    with pytest.raises(ConfigError, match=r"no store has an address like|name a file, or begin"):
        open_store(address)


def test_expiry_where_there_is_none() -> None:
    with pytest.raises(ConfigError, match="do not expire by themselves in a postgresql store"):
        open_store("postgresql://localhost/db", ttl_seconds=60)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:pw@host:5432/db", "postgresql://ann@host:5432/db"),
        ("postgresql://ann:p%40w:x@a:1,b:2/db", "postgresql://ann@a:1,b:2/db"),
        (
            "postgresql://host/db?password=pw&sslmode=require",
            "postgresql://host/db?sslmode=require",
        ),
        ("redis://:pw@host/0", "redis://host/0"),
        ("rediss://host/0?ssl_key_password=pw", "rediss://host/0"),
        ("s3://bucket/path?aws_secret_access_key=pw", "s3://bucket/path"),
        ("refold.db", "refold.db"),
        ("redis://[broken:pw@host", "redis://…"),
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
