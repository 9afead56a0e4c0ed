"""Interrupts at every line: what was called has happened, or it has not."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from attacks.base import Area, Check
from attacks.talks import Messages, talk
from refold import MemoryStore, Session, uncompress

_BUDGET = 2_000


def run(scale: float, seed: int) -> Area:
    """Interrupt `append`, `view` and `save` at lines all over refold."""
    rng = random.Random(seed)
    checks = [
        _attack("append", lambda s, m: s.append(m), rng, int(2_000 * scale), spread=2),
        _attack("view", lambda s, _: s.view(), rng, int(2_000 * scale), spread=25),
        _attack("save", lambda s, _: s.save(MemoryStore()), rng, int(300 * scale), spread=5),
    ]
    return Area("interrupts", checks)


def _attack(
    name: str,
    call: Callable[[Session, dict[str, Any]], object],
    rng: random.Random,
    tries: int,
    *,
    spread: int,
) -> Check:
    """Interrupt *call* at ever later lines until it ends first, then begin anew elsewhere."""
    check = Check(f"{name} has happened or has not")
    at = 0
    messages, length = _beginning(rng)
    for _ in range(max(20, tries)):
        at += rng.randint(1, 2 * spread - 1)
        session = Session(token_budget=_BUDGET, store=MemoryStore())
        for message in messages[:length]:
            session.append(message)
            session.view()
        if not interrupt(partial(call, session, messages[length]), at):
            at = 0
            messages, length = _beginning(rng)
            continue
        problem = _problem(session, messages, length)
        check.record(bool(problem), f"{name}, line {at} of refold's, {length} messages: {problem}")
    return check


def _beginning(rng: random.Random) -> tuple[Messages, int]:
    """Choose a conversation, and how far it has come."""
    messages = talk(rng, 24, chars=rng.choice((80, 600)), ids=rng.random() < 0.5)
    return messages, rng.randrange(0, 20)


def interrupt(call: Callable[[], object], at: int) -> bool:
    """Raise `KeyboardInterrupt` at the line of refold's that is the *at*-th to run.

    Returns false if there were not so many.
    """
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if "refold" not in frame.f_code.co_filename:
            return None
        if event == "line":
            lines += 1
            if lines == at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def _problem(session: Session, messages: Messages, length: int) -> str:
    """Say what is wrong with a session that was interrupted; nothing if it goes on as it should."""
    told = session.messages
    if told not in (messages[:length], messages[: length + 1]):
        return "its messages are neither those before nor those after"
    rest = messages[len(told) :]
    if len(told) == length:  # something else comes first, and the interrupted one again after it
        rest = [{"role": "user", "content": "Go on."}, *rest]
    told = told + rest
    try:
        session.extend(rest)
        view = session.view()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
        return f"{type(error).__name__}: {error}"
    if uncompress(view, session.verbatim).messages != told:
        return "what it shows does not unfold to what it was told"
    if session.report.tokens > _BUDGET:
        return "it does not keep its budget"
    return ""
