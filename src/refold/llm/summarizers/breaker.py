"""Stop asking a summarizer that only fails, and try it again after a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from refold.checks import check_number, check_whole
from refold.errors import AnswerError, CircuitOpenError, describe
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    as_summarizer,
)
from refold.llm.summarizers.retrying import status_of

_ABOUT_THE_TEXT: Final = frozenset({400, 413, 422})
_BUSY: Final = 429


@dataclass(frozen=True, slots=True)
class _Ticket:
    """The right to make one call; what comes of it counts only in the round it belongs to."""

    round: int
    is_trial: bool


class CircuitBreaker:
    """Refuses at once after *failures* failures in a row, for *cool_down_seconds*.

    After that one call is let through as a trial: if it succeeds everything is open for business
    again, if it fails the wait starts anew. A cancelled call says nothing about the summarizer, nor
    does an error that shows it at work: it is busy, or it refuses or cannot answer this one text.
    Calls that were under way when the breaker opened or closed no longer change its mind.
    """

    def __init__(
        self,
        inner: Summarizer | TextFunction,
        *,
        failures: int = 5,
        cool_down_seconds: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_whole("failures", failures, least=1)
        check_number("cool_down_seconds", cool_down_seconds)
        self._inner = as_summarizer(inner)
        self._allowed = failures
        self._cool_down = cool_down_seconds
        self._clock = clock
        self._lock = threading.RLock()
        self._round = 0
        self._failed = 0
        self._open_since: float | None = None
        self._has_trial = False
        self._why = ""

    @property
    def is_open(self) -> bool:
        """Whether calls are refused, but for the trial after the cool-down."""
        return self._open_since is not None

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask *inner*, or raise `CircuitOpenError` without asking."""
        ticket = self._admit()
        try:
            answer = await self._inner.summarize(request)
        except Exception as error:
            if _is_at_work(error):
                self._hand_back(ticket)
            else:
                self._count_failure(ticket, error)
            raise
        except BaseException:
            self._hand_back(ticket)
            raise
        self._count_success(ticket)
        return answer

    def _admit(self) -> _Ticket:
        with self._lock:
            if self._open_since is None:
                return _Ticket(self._round, is_trial=False)
            wait = self._open_since + self._cool_down - self._clock()
            if wait > 0 or self._has_trial:
                raise CircuitOpenError(self._refusal(max(0.0, wait)), max(0.0, wait))
            self._has_trial = True
            return _Ticket(self._round, is_trial=True)

    def _refusal(self, wait: float) -> str:
        until = f"it is tried again in {wait:.3g} s" if wait else "it is being tried again now"
        return (
            f"the summarizer is not asked: it failed {self._failed} times in a row; {until}; "
            f"the last error was {self._why}"
        )

    def _count_failure(self, ticket: _Ticket, error: Exception) -> None:
        # The words, not the error: its traceback would keep the texts of the call alive.
        why = describe(error)
        with self._lock:
            if ticket.round != self._round:
                return
            self._failed += 1
            self._why = why
            if ticket.is_trial or self._failed >= self._allowed:
                self._start_round(open_since=self._clock())

    def _count_success(self, ticket: _Ticket) -> None:
        with self._lock:
            if ticket.round != self._round:
                return
            self._failed = 0
            if ticket.is_trial:
                self._start_round(open_since=None)

    def _hand_back(self, ticket: _Ticket) -> None:
        with self._lock:
            if ticket.is_trial and ticket.round == self._round:
                self._has_trial = False

    def _start_round(self, *, open_since: float | None) -> None:
        self._round += 1
        self._open_since = open_since
        self._has_trial = False


def _is_at_work(error: Exception) -> bool:
    """Tell whether the summarizer works, only not now or not for this text."""
    return isinstance(error, AnswerError) or status_of(error) in {_BUSY, *_ABOUT_THE_TEXT}
