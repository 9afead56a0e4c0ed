"""One request with messages from start to end: its tenant, its conversation, its cost."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import replace
from typing import Self

from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from refold.conversation.prices import list_prices
from refold.server.proxy.apis.base import Api, Usage
from refold.server.proxy.headers import for_upstream, session_of, tenant_of
from refold.server.proxy.request import Folded
from refold.server.proxy.settings import Settings
from refold.server.proxy.stats import Bill, Stats, Totals, bill


class Visit:
    """One request with messages, from start to end."""

    def __init__(
        self, settings: Settings, stats: Stats, request: web.BaseRequest, api: Api, url: URL
    ) -> None:
        self._stats = stats
        self.request = request
        self.api = api
        self.url = url
        """Where it goes."""
        self.path = url.raw_path
        self.headers: CIMultiDict[str] = for_upstream(request.headers)
        key = request.query.get("key", "")
        self.tenant = tenant_of(request.headers, key, is_local=settings.is_local)
        self.client_session = session_of(request.headers)
        self.key = self.tenant + self.client_session
        """The key by which a worker is chosen."""
        self.folded = Folded()

    def again(self) -> Self:
        """Return another request of the same client to the same endpoint."""
        other = copy(self)
        other.folded = Folded()
        return other

    def note(self, folded: Folded) -> None:
        """Count the outcome of the request."""
        self.folded = folded
        name = f"{self.tenant[:6]}-{folded.conversation}" if folded.conversation else "other"
        self.session = self._stats.session(name, self.api.name, folded.model, time.time())
        self.session.owner = self.key, self.tenant, folded.conversation
        self.session.last = replace(folded, body=None)
        for totals in self._totals:
            totals.requests += 1
            if not self.api.is_counting(self.path):
                totals.add_fold(folded)

    @property
    def _totals(self) -> tuple[Totals, Totals]:
        return self._stats.totals, self.session.totals

    def unfold(self) -> None:
        """Undo the count of savings: the request went out unfolded."""
        for totals in self._totals:
            totals.take_back_fold(self.folded)
        self.folded = Folded(model=self.folded.model)

    def refold(self, folded: Folded) -> None:
        """Count a late fold, after the unfolded request was refused."""
        self.folded = folded
        self.session.last = replace(folded, body=None)
        for totals in self._totals:
            totals.add_fold(folded)

    def count_retrievals(self, number: int) -> None:
        """Count retrieval rounds."""
        for totals in self._totals:
            totals.retrievals += number

    def charge(self, usages: list[Usage]) -> None:
        """Count the usage that the provider reports."""
        folded = self.folded
        price = list_prices().find(folded.model)
        saved = folded.tokens_before - folded.tokens_after
        known = folded.tokens_known if folded.is_refolded else None
        old = folded.saved_before
        for usage in usages:
            if not usage.prompt:
                continue
            cost: Bill | None = None
            if price is not None:
                now = max(0, saved - old)
                cost = bill(price, usage, saved_before=old, saved_now=now, known=known)
            for totals in self._totals:
                totals.add_usage(usage, cost)
            old, known = saved, None  # later rounds begin where this one ended
