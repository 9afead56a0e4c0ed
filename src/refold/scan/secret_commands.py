"""Passwords on command lines, in SQL and in calls, where their place announces them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import chain, islice
from typing import Final

from refold.scan.patterns import MAIL
from refold.scan.runs import Span, has_digit
from refold.scan.secret_names import Grade
from refold.scan.secret_values import Link, can_be_secret

_LINE: Final = r"[^\n|;]{0,300}?"
_WORD: Final = r"[\\\"']{0,2}(?P<value>[^\s\"'\\|;-][^\s\"'\\|;]{2,200}+)"

_ROWS: Final = (
    # What must be in the lower-cased text, the program, and what stands before the password.
    ("curl", r"curl", r"[ \t](?:-u|--user|--proxy-user)[ \t=]*+[\\\"']{0,2}[^\s:\"']{1,80}+:"),
    ("wget", r"wget", r"[ \t]--(?:http|ftp|proxy)-password="),
    ("sshpass", r"sshpass", r"[ \t]-p[ \t]*+"),
    ("mysql", r"mysql(?:dump|admin|sh)?", r"[ \t]-p(?=[^\s-])"),
    ("mariadb", r"mariadb(?:-dump)?", r"[ \t]-p(?=[^\s-])"),
    (
        "login",
        r"(?:docker|podman|helm|az|skopeo|cf|oc|gcloud|vault|npm)",
        r"\blogin\b" + _LINE + r"[ \t]-p[ \t=]++",
    ),
    ("redis-cli", r"redis-cli", r"[ \t]-a[ \t]++"),
    ("ldap", r"ldap(?:search|modify|add|delete|passwd|whoami)", r"[ \t]-w[ \t]++"),
    (
        "htpasswd",
        r"htpasswd",
        r"[ \t]-[a-z]{0,4}b[a-z]{0,4}[ \t]++\S{1,200}+[ \t]++\S{1,80}+[ \t]++",
    ),
    ("zip", r"(?:un)?zip", r"[ \t]-P[ \t]*+"),
    ("7z", r"7z[a-z]?", r"[ \t]-p(?=[^\s-])"),
    ("mongo", r"mongo(?:sh|dump|restore|export|import)?", r"[ \t]-p[ \t]++"),
    ("mosquitto", r"mosquitto_(?:pub|sub|rr)", r"[ \t]-P[ \t]++"),
    ("freerdp", r"[xw]l?freerdp", r"[ \t]/p:"),
    ("sqlcmd", r"sqlcmd", r"[ \t]-P[ \t]++"),
    ("snmp", r"snmp(?:bulk)?(?:walk|get|set|getnext|trap)", r"[ \t](?-i:-[Ac])[ \t]++"),
    ("snmp", r"snmp(?:bulk)?(?:walk|get|set|getnext|trap)", r"[ \t](?-i:-X)[ \t]++"),
    ("net user", r"net1?[ \t]++user", r"[ \t]++\S{1,80}+[ \t]++(?![/*])"),
    ("wpa_passphrase", r"wpa_passphrase", r"[ \t]++\S{1,32}+[ \t]++"),
    ("setcookie", r"(?<=-)setcookie", r"[ \t]++"),
    ("logon", r"logon", r"[ \t]++\w{1,8}+/"),
    ("option", r"option", r"[ \t]++key[ \t]++(?=[\"'])"),
    ("lftp", r"lftp", r"[ \t]-u[ \t]*+[\\\"']{0,2}[^\s,\"']{1,80}+,"),
    ("rabbitmqctl", r"rabbitmqctl", r"[ \t](?:add_user|change_password)[ \t]++\S{1,80}+[ \t]++"),
    ("certutil", r"certutil", r"[ \t]-p[ \t]++"),
    ("nuget", r"nuget", r"[ \t]-k[ \t]++"),
    ("kinit", r"kinit", r"<<<[ \t]*+"),
    ("sudo", r"sudo", r"[ \t]-S[ \t][^\n|;]{0,80}?<<<[ \t]*+"),
    ("creds", r"(?:src-|dest-)?creds", r"[ =][^\s:\"']{1,80}+:"),
    ("etcdctl", r"etcdctl", r"--user[ =][^\s:\"']{1,80}+:"),
    ("ipmitool", r"ipmitool", r"[ \t]-P[ \t]++"),
    ("vncpasswd", r"vncpasswd", r"<<<[ \t]*+"),
    ("net use", r"net[ \t]++use", r"/user:\S{1,80}+[ \t]++"),
    ("useradd", r"useradd", r"[ \t]-p[ \t]++"),
    ("usermod", r"usermod", r"[ \t]-p[ \t]++"),
    ("openssl", r"openssl", r"[ \t]-(?:pass(?:in|out)?[ \t]++pass:|[kK][ \t]++)"),
    ("keytool", r"keytool", r"[ \t]-(?:store|key)pass[ \t]++"),
    ("identified", r"identified", r"[ \t]by[ \t]++(?=[\"'])"),
    ("role", r"(?:role|user)", r"[ \t]password[ \t]++(?=[\"'])"),
    ("requirepass", r"requirepass", r"[ \t]++"),
    ("masterauth", r"masterauth", r"[ \t]++"),
    ("auth ", r"(?<![^\n>])[ \t]*+AUTH", r"(?<=AUTH)[ \t]++(?:default[ \t]++)?(?=\S{1,80}$)"),
    ("> auth ", r"(?<=[0-9]> )AUTH", r"(?<=AUTH)[ \t]++(?:[\w-]{1,40}[ \t]++)?"),
)
_USER_COLON_PASSWORD: Final = re.compile(
    r"(?:-(?<!\S.)(?:[aAuU]|-(?:user|auth|creds|credentials))|user(?<!\S....)(?==))"
    r"[ \t=]++[\\\"']{0,2}"
    r"(?P<user>[\w.@+-]{1,60}+):(?P<value>[^\s\"'\\|;:/]{3,200}+)"
)
_USER_PERCENT_PASSWORD: Final = re.compile(
    r"-(?<!\S.)U[ \t]*+[\\\"']{0,2}[^\s%\"']{1,80}+%(?P<value>[^\s\"'\\|;]{3,200}+)"
)
"""As the programs of Samba spell it."""
_USER_AND_PASSWORD: Final = re.compile(
    r"-(?<!\S.)(?:[uUl]|-?user(?:name)?|-?login)[ \t=]*+[^\s-][^\s]{0,80}+[ \t]++"
    rf"(?:[^\n|;]{{0,80}}?[ \t])??-[pPwW][ \t=]*+{_WORD}"
)
_PASSWORD_AND_USER: Final = re.compile(
    rf"-(?<!\S.)[pPwW][ \t=]++{_WORD}[\"']?[ \t]++(?:-[uUl]|--?user(?:name)?|--?login)[ \t=]"
)
"""Programs that ask for a user with one letter ask for the password with another."""
_COMMANDS: Final = tuple(
    (sign, re.compile(rf"\b{program}\b{_LINE}{option}{_WORD}", re.IGNORECASE))
    for sign, program, option in _ROWS
)
_PIPED: Final = re.compile(
    r"\b(?:echo|printf)[ \t]++(?:-[a-z]{1,3}[ \t]++)?[\\\"']{0,2}(?:[\w.-]{1,32}:)?"
    r"(?P<value>[^\s\"'\\|$]{4,200}+)[\\\"']{0,2}[ \t]*+\|[ \t]*+"
    r"(?:sudo[ \t]++-S|(?:sudo[ \t]++)?chpasswd|(?:docker|podman|helm)[^\n|]{0,80}?--password-stdin"
    r"|passwd|gpg[^\n|]{0,80}?--passphrase-fd|su\b|(?:sudo[ \t]++)?cryptsetup|openssl|kinit"
    r"|vncpasswd"
    r"|[\w./-]{1,40}[^\n|]{0,80}?[ \t]--?(?:pass\w{0,10}|token|secret)[-=]?stdin\b"
    r"|[\w./-]{1,40}[^\n|]{0,80}?[ \t](?:--with-token|login|auth)\b"
    r"|pass[ \t]++insert\b"
    r"|[\w./-]{1,40}[ \t]++(?:secrets?|env)[ \t]++(?:add|put|set|create|update)\b)"
)


_USER_SIGNS: Final = ("-u", "-l", "-a", "--cred", "user=")
_PIPED_SIGNS: Final = ("echo", "printf")
COMMAND_SIGNS: Final = (*(sign for sign, _ in _COMMANDS), *_USER_SIGNS, *_PIPED_SIGNS)


def find_on_command_lines(text: str, seen: Collection[str]) -> Iterator[Span]:
    """Yield the passwords of commands; *seen* are the signs in the lower-cased text."""
    for sign, command in _COMMANDS:
        if sign in seen:
            for found in command.finditer(text):
                yield found.span("value")
    if any(sign in seen for sign in _USER_SIGNS):
        yield from _after_users(text)
    if "|" in text and any(sign in seen for sign in _PIPED_SIGNS):
        for found in _PIPED.finditer(text):
            yield found.span("value")


def _after_users(text: str) -> Iterator[Span]:
    pairs = (
        _USER_AND_PASSWORD.finditer(text),
        _PASSWORD_AND_USER.finditer(text),
        _USER_PERCENT_PASSWORD.finditer(text),
    )
    for found in chain.from_iterable(pairs):
        if any(map(str.isalpha, found["value"])):  # else a port
            yield found.span("value")
    for found in _USER_COLON_PASSWORD.finditer(text):
        if not found["value"].isdecimal() and found["value"] != found["user"]:  # of a system
            yield found.span("value")


_VALUE: Final = r"[\"'`]?(?P<value>[^\s\"'`,;/:|]{5,80}+)"
_SECOND: Final = re.compile(rf":(?<=[\w@+-].)(?!//){_VALUE}")
_APART: Final = re.compile(rf"(?: (?<=[\w@+-].)|\t(?<=[\w@+-].))[ \t]*+[/|:][ \t]++{_VALUE}")
"""Each way begins with a sign, which can be looked for, and not with a look behind."""
_PARTING: Final = tuple(f"{before}{sign}" for before in " \t" for sign in "/|:")
"""One of these is in every text in which a blank stands on both sides of the sign."""
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
"""How far before a password there is talk of logging in: about a line. A guess."""
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
"""Of a call that are read: host, port, user, password, database, and one more."""
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
"""How long the name of a function may be; it bounds the time."""
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
    for found in chain(
        _SECOND.finditer(text) if ":" in text else (),
        _APART.finditer(text) if any(sign in text for sign in _PARTING) else (),
    ):
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
