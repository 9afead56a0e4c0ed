"""Secrets never leave the process: the summarizer sees placeholders in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from refold.summarizers.base import Summarizer, Summary, SummaryRequest, TextFunction, as_summarizer

Span = tuple[int, int]
"""Where a secret begins and ends in a text."""

SecretFinder = Callable[[str], Iterable[Span]]
"""Finds the secrets of a text."""

_MIN_REPEATED: Final = 8
"""A secret this long is hidden wherever it occurs; a shorter one, which may be a common word,
only where it was found."""

_MAX_COMPARED: Final = 256
"""Of a longer secret so many characters are enough to know it by: no long comparison in vain."""

_PLACEHOLDER: Final = re.compile(r"(?:<|&lt;|&#60;)secret-([0-9]{1,9})(?:>|&gt;|&#62;)", re.I)
_NUMBERED: Final = re.compile(r"secret-([0-9]{1,9})", re.I)


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
        vault = _Vault((request.text, request.context, *request.must_keep), self._find)
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


class _Vault:
    """The secrets of one request and the placeholders that stand for them."""

    def __init__(self, texts: tuple[str, ...], find: SecretFinder) -> None:
        # A placeholder must not look like anything that is already there.
        self._taken = {int(n) for text in texts for n in _NUMBERED.findall(text)}
        self._last = 0
        self._placeholders: dict[str, str] = {}
        self._secrets: dict[int, str] = {}
        found = {text: _merged(text, find(text)) for text in texts}
        self._known = {text[a:b] for text, spans in found.items() for a, b in spans}
        self._lengths: dict[str, set[int]] = {}
        self._by_head: dict[str, list[str]] = {}
        for secret in self._known:
            if len(secret) >= _MIN_REPEATED:
                head = secret[:_MAX_COMPARED]
                self._lengths.setdefault(secret[:_MIN_REPEATED], set()).add(len(head))
                self._by_head.setdefault(head, []).append(secret)
        self._spans = {
            text: _merged(text, (*spans, *self._repeated(text, spans)))
            for text, spans in found.items()
        }

    def __bool__(self) -> bool:
        return bool(self._known)

    def hide(self, text: str) -> str:
        """Return *text*, one of those of the request, with placeholders for its secrets."""
        return self._hide(text, 0, len(text))

    def hide_fact(self, fact: str, text: str, hidden: str) -> str:
        """Return *fact* as it reads in the hidden text, even if it is only a part of a secret."""
        masked = self._placeholder(fact) if fact in self._known else self.hide(fact)
        if masked != fact or fact in hidden:
            return masked
        start = text.find(fact)
        return masked if start < 0 else self._hide(text, start, start + len(fact))

    def reveal(self, answer: str) -> str:
        """Put the secrets back; a placeholder that is not ours stays."""
        return _PLACEHOLDER.sub(lambda m: self._secrets.get(int(m[1]), m[0]), answer)

    def _repeated(self, text: str, spans: list[Span]) -> Iterator[Span]:
        """Find known secrets between *spans*, by their first characters: one look a place."""
        if not self._lengths:
            return
        edges = [0, *(place for span in spans for place in span), len(text)]
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            place = start
            while place + _MIN_REPEATED <= end:
                length = self._length_at(text, place, end)
                if length:
                    yield place, place + length
                place += length or 1

    def _length_at(self, text: str, place: int, end: int) -> int:
        """Return the length of the longest known secret at *place*, 0 if there is none."""
        lengths = self._lengths.get(text[place : place + _MIN_REPEATED], ())
        return max(
            (
                len(secret) if text.startswith(secret, place, end) else length
                for length in lengths
                if place + length <= end
                for secret in self._by_head.get(text[place : place + length], ())
            ),
            default=0,
        )

    def _hide(self, text: str, start: int, end: int) -> str:
        """Return text[start:end]; a secret that lies across its border is hidden as a whole."""
        parts: list[str] = []
        done = start
        for a, b in self._spans[text]:
            if b > start and a < end:
                parts += text[done : max(a, done)], self._placeholder(text[a:b])
                done = b
        parts.append(text[done:end])
        return "".join(parts)

    def _placeholder(self, secret: str) -> str:
        if secret not in self._placeholders:
            self._last += 1
            while self._last in self._taken:
                self._last += 1
            self._placeholders[secret] = f"<secret-{self._last}>"
            self._secrets[self._last] = secret
        return self._placeholders[secret]


def _merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return *spans* in order, those that overlap as one, without empty ones."""
    merged: list[Span] = []
    for start, end in sorted((max(0, a), min(b, len(text))) for a, b in spans):
        if start >= end:
            continue
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{16,}+"  # OpenAI, Anthropic
    r"|A(?:KIA|SIA)[A-Z0-9]{16,}+"  # AWS
    r"|gh[a-z]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+"  # Stripe
    r"|xox[a-z]-[A-Za-z0-9-]{10,}+|xapp-[A-Za-z0-9-]{10,}+"  # Slack
    r"|SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"  # SendGrid
    r"|glpat-[A-Za-z0-9_-]{16,}+"  # GitLab
    r"|npm_[A-Za-z0-9]{30,}+"
    r"|AIza[A-Za-z0-9_-]{30,}+"  # Google
    r"|hf_[A-Za-z0-9]{30,}+|sbp_[0-9a-f]{32,}+|pypi-[A-Za-z0-9_-]{50,}+"
    r"|eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?"  # JWT
    r")"
)
_NAMES: Final = (
    r"(?:passw(?:or)?d|passphrase|_pass|pwd|secret|token|credential"
    r"|(?:api|access|secret|private|signing|encryption|auth|account|shared)[_ -]?key)"
)
# Quoted, maybe inside quoted JSON: up to the closing quote. Otherwise up to white space, a quote,
# a closing tag, or the next `&name=`.
_VALUE: Final = (
    r"(?:\\\"(?P<escaped>(?:(?!\\{1,4}+\")[^\"\n])++)"
    r"|\"(?P<double>(?:[^\"\\\n]|\\.)++)|'(?P<single>(?:[^'\\\n]|\\.)++)"
    r"|(?P<bare>(?:(?!</|[&;,][A-Za-z_][A-Za-z0-9_.-]*+=)[^\s\"'`])++))"
)
_NAMED: Final = re.compile(
    rf"(?:{_NAMES}[\"'\\\]]{{0,3}}+[ \t]*+(?::=|=>|>|[:=](?!=))[ \t]*+"
    rf"|(?<!-)--(?:[a-z]{{1,12}}-){{0,2}}{_NAMES}[ \t]++"
    r"|authorization[\"'\\\]]{0,3}+[ \t]*+[:=][ \t]*+"
    r"|\bbearer[ \t]++(?=\S{8}))"
    rf"(?:(?:basic|bearer|digest|token)[ \t]++)?{_VALUE}",
    re.I,
)
_TRAILING: Final = ".,;:!?)]}"
_USER: Final = re.compile(r"://[^\s/:@\"'<>]*+:(?P<rest>[^\s/\"'<>]++)")
_ARMOR: Final = re.compile(r"-----(?P<edge>BEGIN|END) [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----")
_ARMOR_BODY: Final = re.compile(
    r"(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{40,}+)++(?:(?:\s|\\[nr])++[A-Za-z0-9+/=]++)?"
)


def find_secrets(text: str) -> list[Span]:
    """Find API keys, tokens, passwords and private keys; in doubt it is a secret.

    By shape: the keys of well-known services, JWTs, private key blocks. By what stands before:
    `password=`, `token:`, `--api-key`, `Authorization:`, `Bearer`, `scheme://user:`. A false alarm
    costs little, because everything comes back; so there is no test of how random a value looks.
    """
    spans = [found.span() for found in _KEY.finditer(text)]
    spans += _named_values(text)
    spans += _passwords_of_urls(text)
    spans += _private_keys(text)
    return _merged(text, spans)


_default_finder: Final = find_secrets  # `find_secrets` is also the name of the parameter


def _named_values(text: str) -> Iterator[Span]:
    for found in _NAMED.finditer(text):
        kind = found.lastgroup or "bare"
        start, end = found.span(kind)
        if kind == "bare":
            end = start + len(found[kind].rstrip(_TRAILING))
        yield start, end


def _passwords_of_urls(text: str) -> Iterator[Span]:
    for found in _USER.finditer(text):
        length = found["rest"].rfind("@")  # the last one: a password may have one too
        if length > 0:
            yield found.start("rest"), found.start("rest") + length


def _private_keys(text: str) -> Iterator[Span]:
    """Yield whole blocks; of one whose end is missing, what looks like a key after its start."""
    opening: re.Match[str] | None = None
    for edge in _ARMOR.finditer(text):
        if edge["edge"] == "END":
            if opening is not None:
                yield opening.start(), edge.end()
            opening = None
            continue
        yield from _unclosed(text, opening)
        opening = edge
    yield from _unclosed(text, opening)


def _unclosed(text: str, opening: re.Match[str] | None) -> Iterator[Span]:
    body = None if opening is None else _ARMOR_BODY.match(text, opening.end())
    if opening is not None and body is not None:
        yield opening.start(), body.end()


def hide_secrets(text: str, find: SecretFinder | None = None) -> str:
    """Take the secrets out of words about a text: arguments and tasks may hold some too."""
    pieces: list[str] = []
    done = 0
    for start, end in sorted((find or find_secrets)(text)):
        pieces += [text[done:start], "<secret>"] if start >= done else []
        done = max(done, end)
    return "".join([*pieces, text[done:]])
