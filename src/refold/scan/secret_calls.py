"""Secrets given to functions and typed into forms, and the second half of `user / password`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from refold.scan.patterns import MAIL
from refold.scan.randomness import has_digit
from refold.scan.runs import Span
from refold.scan.secret_names import Grade
from refold.scan.secret_values import Link, can_be_secret

_SECOND: Final = re.compile(
    r"(?: (?<=[\w@+-].)[ \t]*+[/|:][ \t]++|\t(?<=[\w@+-].)[ \t]*+[/|:][ \t]++|:(?<=[\w@+-].)(?!//))"
    r"[\"'`]?(?P<value>[^\s\"'`,;/:|]{5,80}+)"
)
"""Each way begins with a sign, which can be looked for, and not with a look behind."""
_LOGIN: Final = re.compile(
    r"\b(?:log(?:ged|ging)?[ -]?in|sign(?:ed)?[ -]?in|login|account|user(?:name)?|creds?"
    r"|credentials|anmeld\w{0,6}|zugang\w{0,6}|connexion|identifiants|acceso|usuario|utilisateur"
    r"|benutzer\w{0,4}|konto|логин|вход|账号|帐号|アカウント|ssh|ftp|vpn|wi-?fi|wlan|admin|auth)\b"
    r"[^\n]{0,40}?(?<![\w/:.-])[\w.+@-]{2,60}+$"
    rf"|{MAIL}$"
    r"|(?<![\w/:.-])(?:admin|administrator|root|guest|demo|postgres)$"
)
"""What stands before it: talk of logging in, and the user."""
_LATER: Final = re.compile(r"[^\n]{0,32}?\b(?:log|sign)(?:ged|ging)?[ -]?in\b")
_MAX_LOGIN: Final = 120
_ARGUMENTS: Final = re.compile(r"\((?P<arguments>(?:\w{1,40},[ \t]*+)?[\"'][^()\n]{1,300}+)")
_CONNECT: Final = re.compile(
    r"(?:connect|connection|wifi\w{0,8}\.begin|\bdatabase|credentials?|\bpdo|login|log_in|logon|signin|sign_in"
    r"|authenticate|auth|\bdriver|\bsession)[ \t]*+$"
)
"""Functions that are given a user and a password."""
_LITERAL: Final = re.compile(r"(?<![=\w])[\"'](?P<value>[^\"'\n]{0,120}+)[\"']")
_PASSWORD_PLACE: Final = 2
"""After the host and the user."""
_MAX_ARGUMENTS: Final = 6
_GIVEN: Final = re.compile(
    r"\((?:[\"'][\w-]{1,20}[\"'],[ \t]*+|\w{1,20},[ \t]*+)?(?:buffer\.from\()?b?[\"']"
    r"(?P<value>[^\"'\n]{8,200}+)[\"']"
)
_CIPHER: Final = re.compile(
    r"\b(?:fernet|aes|des3?|blowfish|chacha20\w{0,12}|hmac|secretbox|secretkeyspec|cipher"
    r"|create(?:hmac|cipheriv|decipheriv)|sign|verify|encrypt|decrypt|pbkdf2\w{0,8}|scrypt|bcrypt"
    r"|compare|checkpw|hashpw|(?:check|set|make|verify|hash)_?password)(?:\.\w{1,20})?$"
)
"""Functions that are given a key or a password."""
_MAX_CALLEE: Final = 40
_TYPED: Final = re.compile(
    r"pass(?:word|wd|code|phrase)?(?:\([\w.]{1,40}|\b[^\n]{0,40}?\.(?:send_?keys|type|fill|set_?(?:value|text)|enter"
    r"|input|press_sequentially|type_text))\([\"'](?P<value>[^\"'\n]{3,120}+)"
)
_SENT: Final = re.compile(
    r"ass(?:word|phrase|code)[^\n]{0,12}\n?[ \t]*+(?:[^\n]{0,20}?[ \t({;])?"
    r"send(?:line|_keys)?[ \t(]++[\"'](?P<value>(?:[^\"'\n\\]|\\[^rn]){3,120}+)"
)


def find_in_calls(text: str, lower: str) -> Iterator[Span]:
    """Yield what is given away as a password or a key; *lower* is *text* in lower case."""
    yield from _logins(text, lower)
    if "(" in text:
        yield from _arguments(text, lower)
        yield from _keys(lower)
    if "assw" in lower or "assp" in lower or "assc" in lower:
        for pattern in (_TYPED, _SENT):
            for found in pattern.finditer(lower):
                yield found.span("value")


def _logins(text: str, lower: str) -> Iterator[Span]:
    for found in _SECOND.finditer(text):
        value = found["value"].rstrip(".!?)")
        if not has_digit(value) or not can_be_secret(value, Grade.PASSWORD, Link.SAID):
            continue
        start, end = found.start("value"), found.start("value") + len(value)
        before = max(0, found.start() - _MAX_LOGIN)
        if _LOGIN.search(lower, before, found.start()) or _LATER.match(lower, end):
            yield start, end


def _keys(lower: str) -> Iterator[Span]:
    for found in _GIVEN.finditer(lower):
        if _CIPHER.search(lower, max(0, found.start() - _MAX_CALLEE), found.start()):
            yield found.span("value")


def _arguments(text: str, lower: str) -> Iterator[Span]:
    """Yield what is given to a connection by its place: what looks like a password."""
    for call in _ARGUMENTS.finditer(text):
        if not _CONNECT.search(lower, max(0, call.start() - _MAX_CALLEE), call.start()):
            continue
        literals = islice(_LITERAL.finditer(text, *call.span("arguments")), _MAX_ARGUMENTS)
        for place, found in enumerate(literals):
            link = Link.QUOTED if place == _PASSWORD_PLACE else Link.SAID
            if place and can_be_secret(found["value"], Grade.PASSWORD, link):
                yield found.span("value")
