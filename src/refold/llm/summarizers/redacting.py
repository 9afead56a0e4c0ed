"""Secrets never leave the process: the summarizer sees placeholders in their place."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    as_summarizer,
)
from refold.scan.redaction import SecretFinder, Vault
from refold.scan.secrets import find_secrets

_default_finder: Final = find_secrets  # `find_secrets` is also the name of the parameter


class Redacting:
    """Replaces each secret by `<secret-1>`, `<secret-2>`, … and puts it back into the answer.

    The same secret has the same placeholder throughout a request, in all of its fields. What
    *find_secrets* raises is raised: a text that could not be searched is not sent.
    """

    def __init__(
        self, inner: Summarizer | TextFunction, *, find_secrets: SecretFinder | None = None
    ) -> None:
        self._inner = as_summarizer(inner)
        self._find = _default_finder if find_secrets is None else find_secrets

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask *inner* about the text without its secrets."""
        vault = Vault((request.text, request.context, *request.must_keep), self._find)
        if not vault:
            return await self._inner.summarize(request)
        hidden = vault.hide(request.text)
        kept = (vault.hide_fact(fact, request.text, hidden) for fact in request.must_keep)
        answer = await self._inner.summarize(
            replace(
                request,
                text=hidden,
                context=vault.hide(request.context),
                must_keep=tuple(dict.fromkeys(kept)),
            )
        )
        return replace(answer, text=vault.reveal(answer.text))
