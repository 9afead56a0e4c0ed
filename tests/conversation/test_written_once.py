"""A session that only appends writes out what is new, not its whole view again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from refold import Session, uncompress
from refold.stores.memory import MemoryStore
from tests.plan.runs import call


class Noting:
    """A store that notes which keys are put."""

    def __init__(self) -> None:
        self.inner = MemoryStore()
        self.put_keys: list[str] = []

    def put(self, entries: Mapping[str, Any]) -> None:
        self.put_keys += entries
        self.inner.put(entries)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        return self.inner.get(keys)


def log(number: int) -> str:
    return "\n".join(
        f"2026-11-16T10:00:{n:02d} INFO worker-{number} request {n} handled in {n * 7} ms"
        for n in range(60)
    )


def test_what_was_written_is_not_written_again() -> None:
    store = Noting()
    session = Session(store=store)
    session.append({"role": "user", "content": "What is in the logs?"})
    for number in range(6):
        session.extend(call(number, "read_log", {"n": number}, log(number)))
        session.view()
    assert len(store.put_keys) == len(set(store.put_keys)) >= 6


def test_it_is_the_view_that_is_written_at_once() -> None:
    store = MemoryStore()
    session = Session(store=store, conversation="c")
    given: list[dict[str, Any]] = [{"role": "user", "content": "What is in the logs?"}]
    session.extend(given)
    for number in range(6):
        new = call(number, "read_log", {"n": number}, log(number % 3))
        given += new
        session.extend(new)
        if number % 2:
            session.view()
    view = session.view()
    assert view != given
    assert list(uncompress(view, store=store, conversation="c").messages) == given
    again = Session(store=MemoryStore(), conversation="c")
    again.extend(given[:1])
    for number in range(3):
        again.extend(given[1 + 4 * number : 5 + 4 * number])
        whole = again.fork().view()
        assert again.view() == whole, "a copy has nothing to go on from, and writes all of it"
    assert whole == view
