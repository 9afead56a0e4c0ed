"""What went out last in each conversation: should folding fail, that much goes out so again.

A request that went out as it came, in the middle of a conversation that is folded, would cost the
provider's cache of all of it, twice. So only what is new goes out as it came.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from refold.server.proxy.breakpoints import with_marks
from refold.server.proxy.request import Folded, Job, Request

_MOST_BYTES: Final = 64 << 20
"""Of all requests that are kept; those of conversations that went on longest ago go first."""


class LastSent:
    """The last request of each conversation, as it came and as it was folded."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[bytes, Folded]] = OrderedDict()
        self._size = 0

    def keep(self, job: Job, folded: Folded) -> None:
        """Keep a request that is about to be sent; one that goes out as it came needs no help."""
        name = job.tenant, folded.first
        self._drop(name)
        if folded.body is not None:
            self._kept[name] = job.body, folded
            self._size += len(job.body) + len(folded.body)
        while self._size > _MOST_BYTES:
            self._drop(next(iter(self._kept)))

    def go_on(self, job: Job) -> Folded | None:
        """Return a request with its past as it was sent; `None` if nothing of it was folded."""
        try:
            request = Request(job)
        except (ValueError, RecursionError):
            return None
        came, folded = self._kept.get((job.tenant, request.about.first), (b"", Folded()))
        if folded.body is None:
            return None
        past = Request(job._replace(body=came))
        count = len(past.messages)
        if request.messages[:count] != past.messages or request.about.model != folded.model:
            return None
        sent = _marked(Request(job._replace(body=folded.body)).messages, request, count)
        has_tool = folded.has_tool and request.api.has_tools(request.body)
        saved = folded.tokens_before - folded.tokens_after
        return replace(
            folded,
            body=request.write([*sent, *request.given[count:]], has_tool=has_tool),
            beginning=request.about.beginning,
            has_tool=has_tool,
            saved_before=saved,
            is_refolded=False,
        )

    def _drop(self, name: tuple[str, str]) -> None:
        came, folded = self._kept.pop(name, (b"", Folded()))
        self._size -= len(came) + len(folded.body or b"")


def _marked(sent: Sequence[Any], request: Request, count: int) -> list[Any]:
    """Return what was sent with the marks of the cache where the client has them now."""
    if len(sent) != count:
        return list(sent)
    triples = zip(sent, request.messages, request.given, strict=False)
    return [given if one == plain else with_marks(one, given) for one, plain, given in triples]
