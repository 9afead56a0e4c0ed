"""`ObjectStore` in a folder, and in a bucket of a server that speaks S3."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from refold.errors import StoreError
from refold.stores import open_store
from refold.stores.objects import ObjectStore, Record, read_bundle, write_bundle
from refold.stores.scope import ScopedStore
from tests.tools.managing import Clock

from .awaited import Awaited
from .contract import WholeStoreContract
from .servers import S3Server, folder

pytest.importorskip("obstore", reason="obstore is not installed; see `make test-stores`")


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with folder() as room, S3Server(room) as server:
        yield server


def files(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file())


class TestObjectStoreInAFolder(WholeStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[ObjectStore]:
        with ObjectStore(f"file://{tmp_path}/originals") as store:
            yield store


class TestObjectStoreInS3(WholeStoreContract):
    @pytest.fixture
    def store(self, server: S3Server) -> Iterator[ObjectStore]:
        with ObjectStore(server.bucket(), options=server.options) as store:
            yield store


class TestObjectStoreAwaited(WholeStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Awaited]:
        with ObjectStore(f"file://{tmp_path}") as store:
            awaited = Awaited(store)
            yield awaited
            awaited.close()


def test_open_store_opens_a_folder(tmp_path: Path) -> None:
    with open_store(f"file://{tmp_path}/100%25") as store:
        store.put({"a": 1})
    assert (tmp_path / "100%").is_dir()


def test_the_environment_may_name_another_server(
    server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = server.bucket()
    for name, value in server.options.items():
        monkeypatch.setenv(f"AWS_{name.upper()}", value)
    with open_store(bucket) as store:
        store.put({"a": 1})
        assert store.get(["a"]) == {"a": 1}


def test_a_put_is_one_object_and_a_known_one_none(tmp_path: Path) -> None:
    with ObjectStore(f"file://{tmp_path}") as store:
        ann = ScopedStore(store, "ann")
        ann.put({f"{i}": i for i in range(100)})
        assert len(files(tmp_path)) == 1
        ann.put({f"{i}": i for i in range(50)})
        assert len(files(tmp_path)) == 1
        ann.put({"0": 0, "new": 1})
        assert len(files(tmp_path)) == 2


def test_names_of_conversations_are_not_in_names_of_objects(tmp_path: Path) -> None:
    with ObjectStore(f"file://{tmp_path}") as store:
        ScopedStore(store, "../ann/../..").put({"a": 1})
        assert ScopedStore(store, "../ann/../..").get(["a"]) == {"a": 1}
    assert not any("ann" in str(file.relative_to(tmp_path)) for file in files(tmp_path))


def test_two_writers_see_what_the_other_has_put(server: S3Server) -> None:
    bucket = server.bucket()
    with (
        ObjectStore(bucket, options=server.options) as one,
        ObjectStore(bucket, options=server.options) as other,
    ):
        for number in range(5):
            one.put({f"one {number}": number, "shared": "one"})
            other.put({f"other {number}": number, "shared": "other"})
        for store in (one, other):
            assert len(store) == 11
            assert store.get(["shared", "one 4", "other 4"]) == {
                "shared": "one",
                "one 4": 4,
                "other 4": 4,
            }


def test_a_removed_original_is_not_found_by_others_and_can_be_put_again(tmp_path: Path) -> None:
    url = f"file://{tmp_path}"
    with ObjectStore(url) as one, ObjectStore(url) as other:
        one.put({"a": 1, "b": 2})
        one.put({"c": 3})
        assert other.get(["a", "c"]) == {"a": 1, "c": 3}
        assert one.remove().entries == 3
        assert other.get(["a", "b", "c"]) == {}
        other.put({"a": "again"})
        assert one.get(["a"]) == {"a": "again"}
        one.put({"d": 4})
        assert other.get(["d", "a"]) == {"d": 4, "a": "again"}


def test_what_others_have_removed_is_put_again(tmp_path: Path) -> None:
    url = f"file://{tmp_path}"
    with ObjectStore(url) as one, ObjectStore(url) as other:
        for number, prefix in enumerate(("", "scope:3:ann:")):
            ann = ScopedStore(one, "ann")
            ann.put({"a": number, "b": number})
            ann.put({"c": number})
            assert other.remove(prefix).entries == 3
            ann.put({"a": "again"})
            assert ann.get(["a", "b", "c"]) == {"a": "again"}
            assert ScopedStore(other, "ann").get(["a", "b"]) == {"a": "again"}
            other.remove()


def test_what_was_removed_is_in_no_object_any_more(tmp_path: Path) -> None:
    clock = Clock()
    with ObjectStore(f"file://{tmp_path}", clock=clock) as store:
        ScopedStore(store, "ann").put({"a": "xyzzy"})
        clock.now += 100.0
        ScopedStore(store, "ann").put({"b": "plugh"})
        store.remove("scope:3:ann:", before=clock.now)
        kept = b"".join(file.read_bytes() for file in files(tmp_path))
        assert (b"xyzzy" in kept, b"plugh" in kept) == (False, True)
        store.remove("scope:3:ann:")
        kept = b"".join(file.read_bytes() for file in files(tmp_path))
        assert b"ann" not in kept


def test_what_is_old_goes(tmp_path: Path) -> None:
    clock = Clock()
    with ObjectStore(f"file://{tmp_path}", clock=clock) as store:
        store.put({"a": 1})
        clock.now += 100.0
        store.put({"a": 1, "b": 2})
        assert store.remove(before=clock.now).entries == 1
        assert store.get(["a", "b"]) == {"b": 2}


def test_pickles_as_another_way_to_the_same_place(tmp_path: Path) -> None:
    with ObjectStore(f"file://{tmp_path}") as store:
        store.put({"a": 1})
        with pickle.loads(pickle.dumps(store)) as other:
            assert other.get(["a"]) == {"a": 1}


def test_a_damaged_object_is_named(tmp_path: Path) -> None:
    with ObjectStore(f"file://{tmp_path}") as store:
        store.put({"a": "text"})
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    for damaged, words in (
        (whole[:-2], "log/000000000001' is damaged .it is cut off"),
        (b"hello", "begins like no bundle"),
        (whole[:-1] + b"?", "the value of 'a' is not readable"),
    ):
        file.write_bytes(damaged)
        with (
            ObjectStore(f"file://{tmp_path}") as store,
            pytest.raises(StoreError, match=words),
        ):
            store.get(["a"])


def test_an_object_that_did_not_change_is_read_once(tmp_path: Path) -> None:
    with ObjectStore(f"file://{tmp_path}") as store:
        store.put({"a": "text"})
        assert store.get(["a"]) == {"a": "text"}
        (file,) = files(tmp_path)
        when = file.stat().st_mtime_ns
        file.write_bytes(file.read_bytes()[:-1] + b"?")
        os.utime(file, ns=(when, when))  # as if nothing had been written
        assert store.get(["a"]) == {"a": "text"}
        os.utime(file, ns=(when, when + 10**9))
        with pytest.raises(StoreError, match="the value of 'a' is not readable"):
            store.get(["a"])


def test_a_bucket_that_is_not_there_says_so(server: S3Server) -> None:
    with pytest.raises(StoreError, match="cannot open the store 's3://absent/x'"):
        ObjectStore("s3://absent/x", options=server.options)


@pytest.mark.parametrize("cut", [0, 3, 5, 12, 25])
def test_a_bundle_that_is_cut_off_is_refused(cut: int) -> None:
    records = [Record(b"key", 1.5, b"value"), Record(b"", 0.0, b"")]
    data = write_bundle(records)
    assert read_bundle(data) == records
    if cut == 5:
        assert read_bundle(data[:cut]) == []
    else:
        with pytest.raises(ValueError, match="it "):
            read_bundle(data[:cut])
