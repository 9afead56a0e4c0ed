"""Which messages of a conversation each message of its fold stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from refold.model.provenance import read_link, read_provenance
from refold.model.wire import digest
from refold.restore import Trust
from refold.result import Result


def align(
    wires: Sequence[Mapping[str, Any]], result: Result, conversation: str | None
) -> Iterator[tuple[range, Any]]:
    """Yield the places in *wires* that each message of *result* stands for, and that message.

    Together they cover all of *wires*, in order. A message that was kept is yielded as it was
    given, the same object. *conversation* is the name that *result* was folded under.
    """
    place = 0
    trust = Trust(conversation=conversation)
    for wire, link in zip(result.messages, trust.links_in(result.messages), strict=True):
        if digest(wire) == digest(wires[place]):
            yield range(place, place + 1), wires[place]
            place += 1
            continue
        found = read_provenance(wire) or read_link(result.verbatim.get(link))
        assert found is not None, "a message that differs from its source is a stand-in"
        yield range(place, place + len(found.ids)), wire
        place += len(found.ids)
