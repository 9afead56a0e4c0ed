"""Passwords on command lines, in SQL and in calls, where their place announces them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from refold.scan.patterns import MAIL
from refold.scan.runs import Span, has_digit
from refold.scan.secret_names import Grade
from refold.scan.secret_rules import Rule, any_value
from refold.scan.secret_values import Link, can_be_secret

_LINE: Final = r"[^\n|;]{0,300}?"
_WORD: Final = r"[\\\"']{0,2}(?P<value>[^\s\"'\\|;-][^\s\"'\\|;]{2,200}+)"
_ARGUMENT: Final = r"[ \t]++\S{1,80}+[ \t]++"
_USER_COLON: Final = r"[^\s:\"']{1,80}+:"

_PROGRAMS: Final = (
    # How the command begins, the command, and what stands before the password.
    ("curl", r"curl", rf"[ \t](?:-u|--user|--proxy-user)[ \t=]*+[\\\"']{{0,2}}{_USER_COLON}"),
    ("wget", r"wget", r"[ \t]--(?:http|ftp|proxy)-password="),
    ("sshpass|zip|unzip", r"(?:sshpass|(?:un)?zip)", r"[ \t]-p[ \t]*+"),
    (
        "mysql|mariadb|7z",
        r"(?:mysql(?:dump|admin|sh)?|mariadb(?:-dump)?|7z[a-z]?)",
        r"[ \t]-p(?=[^\s-])",
    ),
    (
        "mongo|mosquitto_|sqlcmd|ipmitool|useradd|usermod|certutil",
        r"(?:mongo(?:sh|dump|restore|export|import)?|mosquitto_(?:pub|sub|rr)|sqlcmd|ipmitool"
        r"|user(?:add|mod)|certutil)",
        r"[ \t]-p[ \t]++",
    ),
    ("redis-cli", r"redis-cli", r"[ \t]-a[ \t]++"),
    ("ldap", r"ldap(?:search|modify|add|delete|passwd|whoami)", r"[ \t]-w[ \t]++"),
    (
        "htpasswd",
        r"htpasswd",
        r"[ \t]-[a-z]{0,4}b[a-z]{0,4}[ \t]++\S{1,200}+[ \t]++\S{1,80}+[ \t]++",
    ),
    ("xfreerdp|wfreerdp|xlfreerdp|wlfreerdp", r"[xw]l?freerdp", r"[ \t]/p:"),
    ("snmp", r"snmp(?:bulk)?(?:walk|get|set|getnext|trap)", r"[ \t](?-i:-[Ac])[ \t]++"),
    ("snmp", r"snmp(?:bulk)?(?:walk|get|set|getnext|trap)", r"[ \t](?-i:-X)[ \t]++"),
    ("net |net\t|net1", r"net1?[ \t]++user", rf"{_ARGUMENT}(?![/*])"),
    ("net |net\t", r"net[ \t]++use", r"/user:\S{1,80}+[ \t]++"),
    ("wpa_passphrase", r"wpa_passphrase", r"[ \t]++\S{1,32}+[ \t]++"),
    ("setcookie", r"(?<=-)setcookie", r"[ \t]++"),
    ("logon", r"logon", r"[ \t]++\w{1,8}+/"),
    ("option", r"option", r"[ \t]++key[ \t]++(?=[\"'])"),
    ("lftp", r"lftp", r"[ \t]-u[ \t]*+[\\\"']{0,2}[^\s,\"']{1,80}+,"),
    ("rabbitmqctl", r"rabbitmqctl", rf"[ \t](?:add_user|change_password){_ARGUMENT}"),
    ("nuget", r"nuget", r"[ \t]-k[ \t]++"),
    ("kinit|vncpasswd", r"(?:kinit|vncpasswd)", r"<<<[ \t]*+"),
    ("sudo", r"sudo", r"[ \t]-S[ \t][^\n|;]{0,80}?<<<[ \t]*+"),
    ("creds", r"creds", rf"[ =]{_USER_COLON}"),
    ("etcdctl", r"etcdctl", rf"--user[ =]{_USER_COLON}"),
    ("openssl", r"openssl", r"[ \t]-(?:pass(?:in|out)?[ \t]++pass:|[kK][ \t]++)"),
    ("keytool", r"keytool", r"[ \t]-(?:store|key)pass[ \t]++"),
    ("identified", r"identified", r"[ \t]by[ \t]++(?=[\"'])"),
    ("requirepass|masterauth", r"(?:requirepass|masterauth)", r"[ \t]++"),
    ("auth |auth\t", r"(?<![^\n>])AUTH", r"(?<=AUTH)[ \t]++(?:default[ \t]++)?(?=\S{1,80}$)"),
    ("auth |auth\t", r"(?<=[0-9]> )AUTH", r"(?<=AUTH)[ \t]++(?:[\w-]{1,40}[ \t]++)?"),
)


def _no_port(found: re.Match[str]) -> Iterator[Span]:
    if any(map(str.isalpha, found["value"])):
        yield found.span("value")


def _no_user(found: re.Match[str]) -> Iterator[Span]:
    if not found["value"].isdecimal() and found["value"] != found["user"]:  # of a system
        yield found.span("value")


_LOGIN: Final = re.compile(
    r"\b(?:log(?:ged|ging)?[ -]?in|sign(?:ed)?[ -]?in|login|account|user(?:name)?|creds?"
    r"|credentials|anmeld\w{0,6}|zugang\w{0,6}|connexion|identifiants|acceso|usuario|utilisateur"
    r"|benutzer\w{0,4}|konto|логин|вход|账号|帐号|アカウント|ssh|ftp|vpn|wi-?fi|wlan|admin|auth)\b"
    r"[^\n]{0,40}?(?<![\w/:.-])[\w.+@-]{2,60}+$"
    rf"|{MAIL}$"
    r"|(?<![\w/:.-])(?:admin|administrator|root|guest|demo|postgres)$",
    re.I,
)
"""Talk of logging in, and the user, before a password."""
_USER_END: Final = re.compile(r"[\w@+-]")
_LATER: Final = re.compile(r"[^\n]{0,32}?\b(?:log|sign)(?:ged|ging)?[ -]?in\b", re.I)
_MAX_LOGIN: Final = 120
"""How many characters before a password the text talks of logging in: a line. A guess."""


def _login(found: re.Match[str]) -> Iterator[Span]:
    """Accept what follows a user name, where the text talks of logging in."""
    text, sign = found.string, found.start()
    value = found["value"].rstrip(".!?)")
    if not has_digit(value) or not can_be_secret(value, Grade.PASSWORD, Link.SAID):
        return
    while sign and text[sign - 1] in " \t":
        sign -= 1
    if not sign or not _USER_END.match(text, sign - 1):
        return
    start, end = found.start("value"), found.start("value") + len(value)
    if _LOGIN.search(text, max(0, sign - _MAX_LOGIN), sign) or _LATER.match(text, end):
        yield start, end


_LITERAL: Final = re.compile(r"(?<![=\w])[\"'](?P<value>[^\"'\n]{0,120}+)[\"']")
_PASSWORD_PLACE: Final = 2
"""The position of the password, after the host and the user."""
_MAX_ARGUMENTS: Final = 6
"""Arguments of a call that are read: host, port, user, password, database, and one more."""


def _argument(call: re.Match[str]) -> Iterator[Span]:
    """Accept the arguments of a connection that look like a password at their position."""
    literals = islice(_LITERAL.finditer(call.string, *call.span("arguments")), _MAX_ARGUMENTS)
    for place, found in enumerate(literals):
        link = Link.QUOTED if place == _PASSWORD_PLACE else Link.SAID
        if place and can_be_secret(found["value"], Grade.PASSWORD, link):
            yield found.span("value")


_LOGIN_VALUE: Final = r"[\"'`]?(?P<value>[^\s\"'`,;/:|]{5,80}+)"
_USER_SIGNS: Final = "-u|-l|-a|--cred|user="

COMMANDS: Final = (
    *(
        Rule(at, rf"(?i)\b{program}\b{_LINE}{option}{_WORD}", any_value)
        for at, program, option in _PROGRAMS
    ),
    Rule(
        "",
        r"(?i)\b(?:docker|podman|helm|az|skopeo|cf|oc|gcloud|vault|npm)\b"
        rf"{_LINE}\blogin\b{_LINE}[ \t]-p[ \t=]++{_WORD}",
        any_value,
        signs="login",
    ),
    Rule(
        "role|user",
        rf"(?i)\b(?:role|user)\b{_LINE}[ \t]password[ \t]++(?=[\"']){_WORD}",
        any_value,
        signs="password",
    ),
    # Programs that ask for a user with one letter ask for the password with another.
    Rule(
        "",
        r"-(?<!\S.)(?:[uUl]|-?user(?:name)?|-?login)[ \t=]*+[^\s-][^\s]{0,80}+[ \t]++"
        rf"(?:[^\n|;]{{0,80}}?[ \t])??-[pPwW][ \t=]*+{_WORD}",
        _no_port,
        signs=_USER_SIGNS,
    ),
    Rule(
        "",
        rf"-(?<!\S.)[pPwW][ \t=]++{_WORD}[\"']?[ \t]++"
        r"(?:-[uUl]|--?user(?:name)?|--?login)[ \t=]",
        _no_port,
        signs=_USER_SIGNS,
    ),
    Rule(  # as the programs of Samba spell it
        "",
        r"-(?<!\S.)U[ \t]*+[\\\"']{0,2}[^\s%\"']{1,80}+%(?P<value>[^\s\"'\\|;]{3,200}+)",
        _no_port,
        signs=_USER_SIGNS,
    ),
    Rule(
        "",
        r"(?:-(?<!\S.)(?:[aAuU]|-(?:user|auth|creds|credentials))|user(?<!\S....)(?==))"
        r"[ \t=]++[\\\"']{0,2}"
        r"(?P<user>[\w.@+-]{1,60}+):(?P<value>[^\s\"'\\|;:/]{3,200}+)",
        _no_user,
        signs=_USER_SIGNS,
    ),
    Rule(  # piped into a program
        "echo|printf",
        r"\b(?:echo|printf)[ \t]++(?:-[a-z]{1,3}[ \t]++)?[\\\"']{0,2}(?:[\w.-]{1,32}:)?"
        r"(?P<value>[^\s\"'\\|$]{4,200}+)[\\\"']{0,2}[ \t]*+\|[ \t]*+"
        r"(?:sudo[ \t]++-S|(?:sudo[ \t]++)?chpasswd"
        r"|(?:docker|podman|helm)[^\n|]{0,80}?--password-stdin"
        r"|passwd|gpg[^\n|]{0,80}?--passphrase-fd|su\b|(?:sudo[ \t]++)?cryptsetup|openssl|kinit"
        r"|vncpasswd"
        r"|[\w./-]{1,40}[^\n|]{0,80}?[ \t]--?(?:pass\w{0,10}|token|secret)[-=]?stdin\b"
        r"|[\w./-]{1,40}[^\n|]{0,80}?[ \t](?:--with-token|login|auth)\b"
        r"|pass[ \t]++insert\b"
        r"|[\w./-]{1,40}[ \t]++(?:secrets?|env)[ \t]++(?:add|put|set|create|update)\b)",
        any_value,
    ),
    Rule(
        "",
        rf":(?<=[\w@+-].)(?!//){_LOGIN_VALUE}",
        _login,
        signs=":",
    ),
    Rule(  # the same with blanks on both sides
        "",
        rf"[/|:](?<=[ \t].)[ \t]++{_LOGIN_VALUE}",
        _login,
        signs=[f"{before}{sign}" for before in " \t" for sign in "/|:"],
    ),
    Rule(  # functions that are given a user and a password
        "connect|wifi|database|credential|pdo|login|log_in|logon|signin|sign_in|auth|driver"
        "|session",
        r"(?i)(?:connect(?:ion)?|wifi\w{0,8}\.begin|\bdatabase|credentials?|\bpdo|log_?in|logon"
        r"|sign_?in|auth(?:enticate)?|\bdriver|\bsession)[ \t]{0,32}+"
        r"\((?P<arguments>(?:\w{1,40},[ \t]*+)?[\"'][^()\n]{1,300}+)",
        _argument,
    ),
    Rule(  # functions that are given a key or a password
        "fernet|aes|des|blowfish|chacha20|hmac|secretbox|secretkeyspec|cipher|createhmac"
        "|createcipheriv|createdecipheriv|sign|verify|encrypt|decrypt|pbkdf2|scrypt|bcrypt|compare"
        "|checkpw|hashpw|checkpassword|check_password|setpassword|set_password|makepassword"
        "|make_password|hashpassword|hash_password",
        r"(?i)\b(?:fernet|aes|des3?|blowfish|chacha20\w{0,12}|hmac|secretbox|secretkeyspec|cipher"
        r"|create(?:hmac|cipheriv|decipheriv)|sign|verify|encrypt|decrypt|pbkdf2\w{0,8}|scrypt"
        r"|bcrypt|compare|checkpw|hashpw|(?:check|set|make|verify|hash)_?password)(?:\.\w{1,20})?"
        r"\((?:[\"'][\w-]{1,20}[\"'],[ \t]*+|\w{1,20},[ \t]*+)?(?:buffer\.from\()?b?[\"']"
        r"(?P<value>[^\"'\n]{8,200}+)[\"']",
        any_value,
    ),
    Rule(  # typed into a form
        "pass",
        r"(?i)pass(?:word|wd|code|phrase)?(?:\([\w.]{1,40}|\b[^\n]{0,40}?"
        r"\.(?:send_?keys|type|fill|set_?(?:value|text)|enter|input|press_sequentially|type_text))"
        r"\([\"'](?P<value>[^\"'\n]{3,120}+)",
        any_value,
        signs="assw|assp|assc",
    ),
    Rule(  # sent to a prompt
        "assword|assphrase|asscode",
        r"(?i)ass(?:word|phrase|code)[^\n]{0,12}\n?[ \t]*+(?:[^\n]{0,20}?[ \t({;])?"
        r"send(?:line|_keys)?[ \t(]++[\"'](?P<value>(?:[^\"'\n\\]|\\[^rn]){3,120}+)",
        any_value,
    ),
)
