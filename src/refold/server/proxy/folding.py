"""Folds requests, in a worker: what is new is respelled once, and stays as it was sent.

A conversation is recognized by how it begins. Nothing of it changes between requests; only where
that pays, or a budget is spent, is all of it folded anew.

`compress` and `original` are the contract of LiteLLM's guardrail. It puts messages back by their
place, so as many come out as went in. A handle must be 12 to 24 hexadecimal digits there, so each
row that is shortened gets one, and its original is kept under it, in the scope of the caller's key.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final

from refold.conversation.session import Session
from refold.errors import MessageError, StoreError
from refold.integrations.choices import CheckedChoices
from refold.messages.provider import is_bound
from refold.messages.wire import spell
from refold.notation.marks import show_handle
from refold.scan.tokens.choose import counter_for
from refold.server.originals import enter_shown
from refold.server.proxy.apis import api_called
from refold.server.proxy.apis.base import TOOL_NAME, Round, Wire
from refold.server.proxy.conversation import Conversation, Snapshot, is_cut
from refold.server.proxy.ledger import JoinedStore, Ledger, Sent
from refold.server.proxy.request import Folded, FoldMode, Job, Request, store_of
from refold.server.proxy.settings import Settings
from refold.stores.base import Store
from refold.tools.retrieve import retrieve_tool
from refold.tools.search import search
from refold.tools.shapes import find_texts

_RESULT_SHARE: Final = 0.1
"""The most that one result may take of a budget in tokens: where that is small, a few results that
are read whole would fill it. With 100,000 it is more than agents such as Codex let one have."""
_MOST: Final = 256
"""Conversations that a worker keeps in memory; older ones are read from the store again."""
_ROW_API: Final = "openai-chat"
_HANDLE: Final = re.compile(r"#[0-9a-z]{5,36}(?=\])")
_ROW_KEY: Final = "proxy:original:"


class Folder:
    """All conversations of one worker."""

    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self._choices = CheckedChoices(
            {
                "profile": settings.profile,
                "store": settings.store or None,
            }
        )
        self._live: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        """By tenant and the name of the beginning read so far."""

    @cached_property
    def _store(self) -> JoinedStore:
        """The whole store; opened when it is first needed, and tried again if that fails."""
        return JoinedStore(self._choices.store)

    def fold(self, job: Job) -> Folded:
        """Return what to send for a request; originals are in the store by then."""
        if self._clock() > job.deadline:
            return Folded(why_not="late")
        request = Request(job)
        if not request.given:
            return Folded(why_not="no messages")
        request.rename(Ledger(self._store_of(job.tenant)))
        found = self._find(job, request)
        if found.is_off:
            self._keep(job.tenant, found, request)
            return replace(request.about, why_not="turned off")
        return self._go_on(job, request, found)

    def _go_on(self, job: Job, request: Request, found: Conversation) -> Folded:
        """Fold what is new in a conversation; what goes into the store is written at once."""
        saved_before, known = found.saved, found.tokens_known
        with self._store.joined():
            view, is_refolded, first_changed = self._view(job, request, found)
            forms = found.new_forms(view, request.messages)
            is_whole = job.mode is FoldMode.REQUEST
            is_new = is_whole and self._is_wanted(found, request, forms, is_refolded)
            is_offered = is_new or found.is_offered
            has_tool = is_whole and is_offered and request.api.has_tools(request.body)
            written = found.write(view, request)
            body = request.write(written, has_tool=has_tool)
            if self._clock() > job.deadline:
                return replace(request.about, why_not="late")
            if forms or is_refolded or is_new:
                sent = Sent(
                    forms={} if is_refolded else {str(at): wire for at, wire in forms.items()},
                    saved=found.saved - (0 if is_refolded else saved_before),
                    is_offered=is_new,
                    folded=view if is_refolded else None,
                )
                Ledger(self._store_of(job.tenant)).enter(request.about.beginning, sent)
            if self._settings.retrieve == "mcp":
                for at, wire in forms.items():
                    enter_shown(self._store_of(job.tenant), wire, request.messages[at])
        found.sent, found.is_offered = (view, len(request.messages)), is_offered
        self._keep(job.tenant, found, request)
        tokens = found.session.report.tokens
        return replace(
            request.about,
            body=body,
            has_tool=has_tool,
            tokens_before=tokens + found.saved,
            tokens_after=tokens,
            saved_before=saved_before,
            tokens_known=known,
            is_refolded=is_refolded,
            first_changed=first_changed,
            thinking=found.session.report.thinking,
        )

    def _view(self, job: Job, request: Request, found: Conversation) -> tuple[list[Any], bool, int]:
        """Return the view to send, whether its beginning was folded anew, and its first change.

        The latter is the first message that the provider has not seen at its place.
        """
        sent, length = found.sent
        if sent and length == len(request.messages):  # the same request once more
            if not found.session.report.tokens:  # after a restart: nothing is counted yet
                found.session.view()
            return sent, False, len(sent)
        answered = _answered(request.messages)
        if answered > found.length:  # not in the ledger: it was sent unfolded
            found.extend(request.api, request.messages[:answered])
            found.session.note_sent()
            found.length = answered
        found.extend(request.api, request.messages)
        folds = found.session.report.folds
        budget = self._budget(job, found, request)
        most = int(_RESULT_SHARE * budget) if isinstance(budget, int) else None
        view = found.session.view(budget, result_tokens=most)
        if found.session.report.folds > folds:
            found.base = len(view), len(found.origins)
            return view, True, found.session.report.first_changed
        if view[: len(sent)] != sent:
            raise StoreError("what was sent cannot be had again: it is passed on as recorded")
        return view, False, found.session.report.first_changed

    def retrieve(self, tenant: str, conversation: str, api: str, body: bytes, asked: Any) -> str:
        """Answer a call of the retrieval tool that was made after *body* had been sent."""
        tool = retrieve_tool(
            self._store_of(tenant),
            messages=json.loads(body)[api_called(api).key],
            conversation=self._scope(conversation),
            name=TOOL_NAME,
        )
        return tool.call(asked)

    def enter_rounds(
        self, tenant: str, beginning: str, rounds: Sequence[Round], names: tuple[str, str]
    ) -> None:
        """Record the retrieval rounds in the answer to a request."""
        found = self._live.get((tenant, beginning))
        if found is not None:
            found.rounds[found.length - 1] = rounds
        Ledger(self._store_of(tenant)).enter_rounds(beginning, rounds, names)

    def take_back(self, job: Job) -> None:
        """Forget how a request was folded, too late: its new messages went out as they came."""
        beginning = Request(job).about.beginning
        self._live.pop((job.tenant, beginning), None)
        Ledger(self._store_of(job.tenant)).take_back(beginning)

    def turn_off(self, tenant: str, beginning: str) -> None:
        """Stop folding a conversation: its provider refused what was folded, not what came."""
        self._live.pop((tenant, beginning), None)
        Ledger(self._store_of(tenant)).turn_off(beginning)

    def snapshot(self, tenant: str, conversation: str, api: str) -> Snapshot | None:
        """Return the longest branch of a conversation in memory; a client may have several.

        `None` if there is none, or if content is not to be shown.
        """
        branches = [
            found
            for (owner, _), found in self._live.items()
            if owner == tenant and found.name == conversation and found.given
        ]
        longest = max(branches, key=lambda found: found.length, default=None)
        return None if longest is None else longest.snapshot(api_called(api))

    def compress(self, tenant: str, body: bytes, deadline: float) -> dict[str, Any]:
        """Answer `POST /v1/compress`; the rows that were shortened are named in `ccr_hashes`."""
        given = json.loads(body)
        rows = given.get("messages") if isinstance(given, dict) else None
        if not isinstance(rows, list):
            raise MessageError("must be a list", "messages")
        folded = self.fold(Job(_ROW_API, "", tenant, "", body, deadline, FoldMode.ROWS))
        shown = rows if folded.body is None else json.loads(folded.body)["messages"]
        originals: dict[str, Any] = {}
        result = [_named(row, short, originals) for row, short in zip(rows, shown, strict=True)]
        if originals:
            entries = {_ROW_KEY + name: row for name, row in originals.items()}
            self._store_of(tenant).put(entries)
        before, after = folded.tokens_before, folded.tokens_after
        return {
            "messages": result,
            "tokens_before": before,
            "tokens_after": after,
            "tokens_saved": before - after,
            "compression_ratio": round(after / before, 4) if before else 1.0,
            "transforms_applied": ["refold"] if originals else [],
            "ccr_hashes": list(originals),
        }

    def original(self, tenant: str, name: str, query: str) -> str | None:
        """Answer `GET /v1/retrieve/HASH`: the whole text, or its pieces that fit a *query*."""
        key = _ROW_KEY + name
        row = self._store_of(tenant).get([key]).get(key)
        if row is None:
            return None
        if query:
            return search([row], query)
        return "\n\n".join(found.text for found in find_texts([row]))

    def _store_of(self, tenant: str) -> Store:
        """Return the part of the store that belongs to a tenant."""
        return store_of(self._store, tenant, self._settings)

    def _scope(self, conversation: str) -> str | None:
        """Return the name under which to fold; `None` where any program may ask for originals."""
        return None if self._settings.retrieve == "mcp" else conversation

    def _find(self, job: Job, request: Request) -> Conversation:
        """Return the conversation that a request continues, from memory or from the store.

        It is taken out of memory: only if all goes well is it kept again.
        """
        for name in reversed(request.beginnings):
            found = self._live.pop((job.tenant, name), None)
            if found is not None and found.model == request.about.model:
                return found
        about, store = request.about, self._store_of(job.tenant)
        options = replace(
            self._choices.options, format=request.api.format, model=about.model or None
        )
        if job.mode is FoldMode.LOSSLESS:
            options = replace(options, profile="lossless")
        scope = self._scope(about.conversation)
        session = Session(options, store=store, conversation=scope, clock=self._clock)
        found = Conversation(about.conversation, about.model, session)
        past = Ledger(store).read(request.beginnings)
        found.replay(request.api, past, request.messages)
        found.is_offered = past.is_offered and self._settings.retrieve == "inline"
        return found

    def _is_wanted(
        self, found: Conversation, request: Request, forms: Mapping[int, Wire], is_refolded: bool
    ) -> bool:
        """Return whether to offer the retrieval tool from now on.

        It costs tokens with every request, and adding it invalidates the whole cache. So it is
        offered once something is left out, not for lossless forms. Where thinking is bound to the
        tools, it is there from the start, or never.
        """
        if found.is_offered or self._settings.retrieve != "inline":
            return False
        if request.body.get("thinking") and is_bound(found.model or None):
            return not _answered(request.messages)
        cut = (is_cut(request.messages[at], wire) for at, wire in forms.items())
        return is_refolded or any(cut)

    def _keep(self, tenant: str, found: Conversation, request: Request) -> None:
        found.length = len(request.messages)
        found.tokens_known = found.session.report.tokens + found.saved
        found.given = request.messages if self._settings.show_content else ()
        self._live[tenant, request.beginnings[-1]] = found
        while len(self._live) > _MOST:
            self._live.popitem(last=False)

    def _budget(self, job: Job, found: Conversation, request: Request) -> int | str | None:
        """Return the budget of the messages: what system prompt and tools leave of a number."""
        if job.mode is not FoldMode.REQUEST:
            return None
        budget = self._settings.token_budget
        if budget is None:
            return "auto"
        beside = [request.body.get(name) for name in request.api.beside]
        if beside != found.beside[0]:
            found.beside = beside, counter_for(found.model or None)(spell(beside))
        return max(1, budget - found.beside[1])


def _answered(messages: Sequence[object]) -> int:
    """Return how many messages there are up to the last one of the model."""
    said = (place for place in range(len(messages), 0, -1) if _is_answer(messages[place - 1]))
    return next(said, 0)


def _is_answer(message: object) -> bool:
    """Return whether a message is the model's."""
    if not isinstance(message, Mapping):
        return False
    is_said = message.get("role") in ("assistant", "model")
    return is_said or str(message.get("type", "")).endswith("_call")


def _named(row: Any, short: Any, originals: dict[str, Any]) -> Any:
    """Return a shortened row with a handle that the guardrail takes; note its original."""
    if short == row or not isinstance(short.get("content"), str):
        return short
    name = blake2b(json.dumps([row, short]).encode(), digest_size=12).hexdigest()
    text, count = _HANDLE.subn(show_handle(name), short["content"], count=1)
    if not count:
        return row  # it has no handle to be fetched by
    originals[name] = row
    return {**short, "content": text}


def warm_up() -> None:
    """Load what folding needs, so that the first request does not miss its deadline for it."""
    log = "\n".join(f"10:00:{n:02} INFO worker {n} took {7 * n} ms" for n in range(200))
    call = {"type": "tool_use", "id": "c", "name": "read_log", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": log}
    session = Session(token_budget=2_000)
    session.append({"role": "user", "content": "Why?"})
    session.append({"role": "assistant", "content": [call]})
    session.append({"role": "user", "content": [result]})
    session.view()
