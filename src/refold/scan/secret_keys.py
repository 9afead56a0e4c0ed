"""Secrets known by their shape: the keys of services, and random tokens with a prefix.

The detector that keeps keys and the redaction that hides them read the same tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from refold.scan.patterns import UUID_HEAD
from refold.scan.runs import Span, churn, has_digit

# What stands before a key is checked in Python: no key begins inside a word.
_SHAPES: Final = (
    r"sk-[A-Za-z0-9_-]{20,}+",  # OpenAI, Anthropic, OpenRouter, DeepSeek
    r"A[KS]IA[A-Z0-9]{16}+\b",  # AWS
    r"gh[oprstu]_[A-Za-z0-9]{36,}+\b",
    r"github_pat_[A-Za-z0-9_]{36,}+\b",
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{24,}+\b",  # Stripe
    r"glpat-[A-Za-z0-9_-]{20,}+",  # GitLab
    r"npm_[A-Za-z0-9]{36,}+\b",
    r"AIza[A-Za-z0-9_-]{35}+(?![A-Za-z0-9_-])",  # Google
    r"sbp_[0-9a-f]{32,}+\b",  # Supabase
    r"SK[0-9a-f]{32}+\b",  # Twilio
    r"dapi[0-9a-f]{32}+(?:-[0-9])?",  # Databricks
    r"pat-[a-z]{2}[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",  # HubSpot
    r"oy2[a-z0-9]{43}+\b",  # NuGet
    r"AKCp[A-Za-z0-9]{20,}+",  # Artifactory
    r"ATBB[A-Za-z0-9]{24,}+",  # Bitbucket
    r"EAA[A-Za-z0-9]{50,}+",  # Facebook, Square
    r"LTAI[A-Za-z0-9]{16,20}+\b",  # Alibaba
    r"AKID[A-Za-z0-9]{32}+\b",  # Tencent
    r"GR1348941[A-Za-z0-9_-]{20,}+",  # GitLab runners
    r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,}+",  # wallets
    r"(?:[LK][1-9A-HJ-NP-Za-km-z]{51}+|5[1-9A-HJ-NP-Za-km-z]{50}+)\b",
    r"[MNO][A-Za-z0-9_-]{23,27}+\.[A-Za-z0-9_-]{6,7}+\.[A-Za-z0-9_-]{27,}+",  # Discord
)
"""Keys that begin where a run of letters, digits, `-` and `_` does that is long enough for one."""
# The needle is a literal of the pattern, looked for first.
_OTHER_SHAPES: Final = (
    ("ABSK", r"ABSK[A-Za-z0-9+/]{60,}+"),  # AWS
    ("whsec_", r"whsec_[A-Za-z0-9+/]{24,}+"),  # Stripe
    ("xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{20,}+"),  # Slack
    ("SG.", r"SG\.[A-Za-z0-9_-]{20,}+\.[A-Za-z0-9_-]{20,}+"),  # SendGrid
    ("ya29.", r"ya29\.[A-Za-z0-9_-]{20,}+"),  # Google
    ("1//0", r"1//0[A-Za-z0-9_-]{30,}+"),
    ("Q~", r"[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,36}+"),  # Azure
    ("hv", r"hv[sbr]\.[A-Za-z0-9_-]{20,}+"),  # Vault
    ("dp.", r"dp\.[a-z]{2,5}\.(?:[a-z0-9_-]{2,35}+\.)?[A-Za-z0-9]{30,}+"),  # Doppler
    (".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}+"),  # Terraform
    (":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}+"),  # Telegram
    ("dt0", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,}+"),  # Dynatrace
    ("pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{60,}+"),  # Airtable
    ("TT3", r"AT[AC]TT3[A-Za-z0-9_=-]{40,}+"),  # Atlassian
    ("sl.", r"sl\.[A-Za-z0-9_-]{60,}+"),  # Dropbox
    ("AAAAAAAAAAAA", r"(?<![A-Za-z0-9_-])A{12,}+[A-Za-z0-9%]{30,}+"),  # X
    ("$production$", r"\$production\$[a-z0-9]{10,}+\$[0-9a-f]{32}+"),  # PayPal, Braintree
    (  # JWT
        "eyJ",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){0,3}",
    ),
    (".local.", r"v[1-4]\.local\.[A-Za-z0-9_-]{40,}+"),  # PASETO
    (".public.", r"v[1-4]\.public\.[A-Za-z0-9_-]{40,}+"),
    ("MII", r"MII[A-Za-z0-9+/]{5}[A-Za-z0-9+/=]{120,}+"),  # DER without its armor
    ("DO-NOT-SHARE", r"_\|WARNING:-DO-NOT-SHARE[!-:<-~]{20,}+"),  # Roblox
    ("LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{30,}+"),  # armor once more in base64
)
_PREFIXES: Final = (
    "AGE-SECRET-KEY- CCIPAT_ CCIPRJ_ CFPAT- CLOJARS_ FLWSECK- FLWSECK_TEST- GOCSPX- HRKU- NRAK- "
    "PMAK- api_org_ bkua_ csk- dckr_oat_ dckr_pat_ doo_v1_ dop_v1_ dor_v1_ figd_ glagent- glc_ "
    "glcbt- gldt- glft- glimt- glptt- glrt- glsa_ glsoat- gsk_ hf_ jina_ key- lin_api_ lin_oauth_ "
    "lsv2_pt_ lsv2_sk_ mdb_sa_sk_ napi_ nfp_ ntn_ nvapi- ops_ pat- pcsk_ phx_ pnu_ pplx- "
    "pscale_oauth_ pscale_pw_ pscale_tkn_ pul- pypi- r8_ rdme_ re_ rnd_ rubygems_ rzp_live_ "
    "rzp_test_ sb_secret_ secret_ sgp_ shpat_ shpca_ shppa_ shpss_ sntrys_ sntryu_ sq0atp- "
    "sq0csp- sqa_ sqp_ squ_ tfp_ tskey- tvly- vcp_ xai- xapp- xkeysib- xsmtpsib-"
).split()
"""Of services whose keys are nothing but one of these and a body of letters, digits, `-`, `_`."""

_PREFIXED: Final = re.compile(rf"(?:{'|'.join(_PREFIXES)})(?P<body>[A-Za-z0-9_-]{{20,}}+)")
_TOKEN: Final = re.compile(
    r"(?P<prefix>[A-Za-z][A-Za-z0-9]{1,14}+)[-_](?P<body>[A-Za-z0-9_-]{20,}+)"
)
_KEBAB: Final = re.compile(r"(?<![a-z])[a-z]{2,}+-[a-z]{2,}+-")
_UUID: Final = re.compile(UUID_HEAD)
_PIECE: Final = re.compile(r"[A-Za-z0-9]{16,}+")
_MIN_CHURN: Final = 0.3
"""How often the kind of character must change behind a prefix; see `secret_looks`. A guess."""
_MAX_BEFORE: Final = 24
"""How much of a key may stand before its first run of so many characters."""


def find_keys(text: str, runs: Sequence[Span]) -> list[Span]:
    """Return the keys of *text* in reading order.

    *runs* are its runs of at least 20 letters, digits, `-` and `_`: each key has one.
    """
    return sorted({*find_known(text, runs), *_generic(text, runs)})


def find_known(text: str, runs: Sequence[Span]) -> Iterator[Span]:
    """Yield those among them that a row of the tables describes."""
    if not runs:
        return
    shaped, others = _compiled()
    for start, _ in runs:
        found = shaped.match(text, start)
        if found is not None and not _is_name(found[0]):
            yield found.span()
        prefixed = _PREFIXED.match(text, start)
        if prefixed is not None and is_random(prefixed["body"]):
            yield prefixed.span()
    near = "\n".join([text[max(0, start - _MAX_BEFORE) : end] for start, end in runs])
    for needle, pattern in others:
        for found in pattern.finditer(text) if needle in near else ():
            if not _is_inside_word(text, found.start()) and not _is_name(found[0]):
                yield found.span()


@cache
def _compiled() -> tuple[re.Pattern[str], tuple[tuple[str, re.Pattern[str]], ...]]:
    """Compile the shapes when a text is first searched for them: importing must stay quick."""
    others = [(needle, re.compile(pattern, re.ASCII)) for needle, pattern in _OTHER_SHAPES]
    return re.compile("|".join(_SHAPES), re.ASCII), tuple(others)


def _is_inside_word(text: str, start: int) -> bool:
    before = text[start - 1 : start] if start else ""
    return before in {"-", "_"} or (before.isascii() and before.isalnum())


def _is_name(token: str) -> bool:
    """Return whether this is a CSS class or the like (`sk-button-primary-large`), not a key."""
    return token.islower() and token.count("-") > 2 and not has_digit(token)


def _generic(text: str, runs: Sequence[Span]) -> Iterator[Span]:
    for start, end in runs:
        token = _TOKEN.match(text, start, end)
        if token and _has_service_prefix(token["prefix"]) and is_random(token["body"]):
            yield token.span()


def _has_service_prefix(prefix: str) -> bool:
    # Hexadecimal digits only: the first group of a UUID or of a dump.
    return any(letter in "ghijklmnopqrstuvwxyz" for letter in prefix[1:].lower())


def is_random(body: str) -> bool:
    """Return whether a run of letters, digits, `-` and `_` looks like chance rather than words."""
    if _KEBAB.search(body) or _UUID.search(body):
        return False
    if body.isalpha() or not (has_digit(body) and any(map(str.isalpha, body))):
        return False
    pieces = _PIECE.findall(body)
    # "20240115T093000Z" is a time: a key has more than two letters.
    mixed = any(sum(map(str.isdigit, p)) >= 1 and sum(map(str.isalpha, p)) > 2 for p in pieces)
    return mixed or churn(body) >= _MIN_CHURN
