"""Secrets known by the place where they stand: addresses, headers, cookies, files, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.scan.patterns import MAIL_HOST
from refold.scan.runs import Span, has_digit
from refold.scan.secret_names import Grade
from refold.scan.secret_rules import Rule, any_value, each_row, password
from refold.scan.secret_values import Link, can_be_secret, is_chance

_MAX: Final = 1_024
"""Most characters read of a value, which bounds the time; longer ones are rare. A guess."""
_QUERY_NAME: Final = re.compile(
    r"(?:key|sig|signature|token|auth|code|secret|password|passwd|pwd|pass|session|sid|jwt"
    r"|credential|hash|hmac|ticket|sas|pat|st)$",
    re.IGNORECASE,
)
_ATTRIBUTES: Final = frozenset("path domain expires max-age samesite version priority".split())
"""What a cookie says about itself."""


def _in_url(found: re.Match[str]) -> Iterator[Span]:
    rest = found["rest"]
    length = rest.rfind("@")  # the last one: a password may have one too
    if rest[0] == ":" and can_be_secret(rest[1:length], Grade.PASSWORD, Link.TIGHT):
        yield found.start("rest") + 1, found.start("rest") + length
    if length >= 0 and len(found["user"]) >= 16 and is_chance(found["user"]):
        yield found.span("user")


def _in_query(found: re.Match[str]) -> Iterator[Span]:
    value = found["value"]
    is_named = _QUERY_NAME.search(found["name"]) is not None
    if is_named and has_digit(value) and can_be_secret(value, Grade.SECRET, Link.TIGHT):
        yield found.span("value")


def _authorization(found: re.Match[str]) -> Iterator[Span]:
    value = found["value"].rstrip(".,;:!?)]}")
    is_word = value.isalpha() and not (found["scheme"] and len(value) >= 8)
    if not is_word and can_be_secret(value.split()[0], Grade.PASSWORD, Link.TIGHT):
        yield found.start("value"), found.start("value") + len(value)


def _bearer(found: re.Match[str]) -> Iterator[Span]:
    value = found["value"].rstrip(".")
    if has_digit(value) and can_be_secret(value, Grade.SECRET, Link.TIGHT):
        yield found.start("value"), found.start("value") + len(value)


def _cookie(found: re.Match[str]) -> Iterator[Span]:
    value = found["value"]
    if found["name"].lower() not in _ATTRIBUTES and len(value) >= 6 and has_digit(value):
        yield found.span("value")


def _by_chance(found: re.Match[str]) -> Iterator[Span]:
    if is_chance(found["value"]):
        yield found.span("value")


def _with_digit(found: re.Match[str]) -> Iterator[Span]:
    if has_digit(found["value"]):
        yield found.span("value")


def _before_blanks(words: str) -> str:
    return "|".join(f"{word}{blank}" for word in words.split("|") for blank in " \t")


_LOCKED: Final = "alarm|door|gate|safe|lock|keypad|garage"
_TYPING: Final = "type|enter|dial|punch in|opens with"
_HEADER_SIGN: Final = r"[\"'\\\])]{0,4}+[ \t]*+[:=,][ \t]*+[\"'\\]{0,3}"

PLACES: Final = (
    Rule(  # the user and password of an address
        "://",
        rf"://(?P<user>[^\s/:@\"'<>?#]{{0,{_MAX}}}+)(?P<rest>:[^\s/\"'<>]{{1,{_MAX}}}+|@)",
        _in_url,
    ),
    Rule(
        "",
        r"(?a)[?&;#](?:amp;)?(?P<name>[\w.-]{1,40}+)="
        rf"(?P<value>[^\s&#\"'<>;`)\]]{{6,{_MAX}}}+)",
        _in_query,
        signs="=",
    ),
    Rule(  # addresses that are secrets themselves
        "hooks.slack|discord.com/api|discordapp.com/api|webhook.office|api.telegram|hooks.zapier"
        "|maker.ifttt|oapi.dingtalk|open.feishu",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<slack>[\w/-]{20,200}+)"
        r"|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15,22}/"
        r"(?P<discord>[\w-]{30,100}+)"
        r"|webhook\.office\.com/webhookb2/(?P<office>[\w@/-]{40,300}+)"
        r"|api\.telegram\.org/bot(?P<telegram>[0-9]{6,12}:[\w-]{20,60}+)"
        r"|hooks\.zapier\.com/hooks/catch/(?P<zapier>[\w/]{8,80}+)"
        r"|maker\.ifttt\.com/trigger/[\w-]{1,60}/with/key/(?P<ifttt>[\w-]{10,80}+)"
        r"|(?:oapi\.dingtalk\.com/robot/send\?access_token=|open\.feishu\.cn/open-apis/bot/v2/hook/)"
        r"(?P<robot>[\w-]{20,80}+)",
    ),
    Rule(
        "authorization",
        rf"(?i)authorization{_HEADER_SIGN}(?:(?P<scheme>[a-z][a-z0-9-]{{1,20}})[ \t]++)?"
        rf"(?P<value>[^\s\"'`\\<>]{{4,{_MAX}}}+"
        rf"(?:,?[ \t]++\w{{1,20}}=[^\s\"'`]{{1,{_MAX}}}+)*+)",
        _authorization,
    ),
    Rule(
        "bearer|basic",
        r"(?i)\b(?:bearer|basic)[ \t]++(?:\\?\r?\n[ \t]*+)?"
        rf"(?P<value>[A-Za-z0-9._~+/-]{{8,{_MAX}}}+=*+)",
        _bearer,
    ),
    Rule(  # a custom header, named after what it holds
        "x-",
        r"(?i)(?<![\w-])x-[\w-]{0,40}?(?:secret|token|password|key)[\"']?[ \t]*+:[ \t]*+[\"']?"
        r"(?P<value>[\w.~+/=-]{8,200}+)",
        password(Link.TIGHT),
    ),
    Rule(
        "set-cookie|cookie|--cookie| -b|\t-b",
        rf"(?i)\b(?:set-)?cookie{_HEADER_SIGN}(?P<pairs>[^\n\"'\\]{{1,{2 * _MAX}}}+)"
        rf"|(?:--cookie|[ \t]-b)[ \t=]++[\"']?(?P<sent>[^\n\"']{{1,{2 * _MAX}}}+)",
        each_row(r"(?P<name>[\w.$-]{1,80}+)=(?P<value>[^;\s,]++)", _cookie),
        signs="cookie| -b ",
    ),
    Rule(  # .netrc
        "machine|default|login",
        r"(?i)\b(?:machine\s+\S{1,200}+|default)\s+(?:login|user)\s+\S{1,200}+\s+"
        rf"(?:account\s+\S{{1,200}}+\s+)?password\s+(?P<value>\S{{1,{_MAX}}}+)"
        rf"|\blogin\s+\S{{1,200}}+\s+password\s+(?P<login>\S{{1,{_MAX}}}+)",
        signs="password |password\t|password\n",
    ),
    Rule(  # .pgpass
        "",
        r"(?m)^[\w.*-]{1,200}+:(?:[0-9]{4,5}+|\*):[\w.*-]{1,100}+:[\w.*@-]{1,100}+:"
        rf"(?P<value>[^\s:]{{4,{_MAX}}}+)$",
        signs=":*:|:5432:|:6432:|:3306:|:5433:",
    ),
    Rule(  # .htpasswd
        "",
        r"(?P<value>\$(?:apr1|2[abxy]|5|6|1|y|argon2[a-z]*)\$[^\s:\"']{16,200}+)",
        signs="$apr1$|$2|$1$|$5$|$6$|$y$|$argon2",
    ),
    Rule(  # passwords of accounts, hashed or not
        "pbkdf2|scrypt|bcrypt|argon2|sha256_crypt|sha512_crypt|{",
        r"(?i)(?P<value>(?:pbkdf2[:_-]\w{3,12}|scrypt|bcrypt(?:_sha256)?|argon2\w{0,2}"
        r"|sha(?:256|512)_crypt)[$:][^\s\"']{20,300}+"
        r"|\{(?:S?SHA(?:256|512)?|S?MD5|CRYPT|PBKDF2[\w-]{0,10})\}[^\s\"']{16,200}+)"
        r"|\{(?:PLAIN|CLEARTEXT|CLEAR)\}(?P<plain>[^\s\"':]{4,120}+)",
        signs="pbkdf2|crypt|argon2|sha}|sha256}|sha512}|md5}|{plain}|{clear",
    ),
    Rule(
        "",
        r"(?m)^\S{1,80}+[ \t]++\*[ \t]++[\"']?(?P<value>[^\s\"'*]{4,80}+)[\"']?[ \t]++\S{1,40}+$",
        signs="chap|pap-secrets",
    ),
    Rule(
        "",
        r"(?m)^[ \t]*+(?:data|stringData):[ \t]*+\n"
        rf"(?P<rows>(?:[ \t]++[\w.-]{{1,100}}+:[ \t][^\n]{{1,{8 * _MAX}}}+\n?)++)",
        each_row(r":[ \t]++[\"']?(?P<value>[^\s\"'#|>][^\s\"']{2,}+)", any_value),
        signs='kind: secret|"kind": "secret"',
    ),
    Rule(  # the secret half of a pair for AWS, in the few lines behind its id
        "akia|asia",
        r"A[KS]IA[A-Z0-9]{16}(?=(?P<near>[\s\S]{0,240}))",
        each_row(r"(?<![A-Za-z0-9/+=])(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", _by_chance),
    ),
    Rule(
        "",
        r"\"(?:d|p|q|dp|dq|qi|k)\"[ \t]*+:[ \t]*+\"(?P<value>[A-Za-z0-9_-]{16,4096}+)\"",
        signs='"kty"',
    ),
    Rule(  # Docker and npm
        '"auth"|_auth',
        r"(?:\"auth\"|_auth)[ \t]*+[:=][ \t]*+[\"']?(?P<value>[A-Za-z0-9+/]{6,2048}+={0,2})",
    ),
    Rule(  # Oracle
        "thin:|sqlplus|sqlldr|expdp|impdp|rman",
        r"(?i)(?:thin:|\b(?:sqlplus|sqlldr|expdp|impdp|rman)[ \t]++(?:-\w++[ \t]++)?)[\w.$]{1,60}+/"
        r"(?P<value>[^\s/@\"']{3,200}+)@",
    ),
    Rule(
        "auth|credentials|basicauth|basic_auth",
        r"(?i)\b(?:auth|credentials|basic_?auth)[ \t]*+[=:,(][ \t]*+[(\[][ \t]*+"
        r"[\"'][^\"'\n]{1,80}+[\"'][ \t]*+,[ \t]*+[\"'](?P<value>[^\"'\n]{3,200}+)",
    ),
    Rule(
        "wifi:",
        r"\bWIFI:[^\n]{0,120}?\bP:(?P<value>(?:[^;\\\n]|\\.){4,80}+)",
    ),
    Rule(  # addresses of databases
        "",
        r"(?<![\w/.-])[\w.-]{1,60}+:(?P<value>[^\s:@/\"']{3,120}+)@(?:tcp|udp|unix)\(",
        signs="@tcp(|@udp(|@unix(",
    ),
    Rule(
        "",
        r"(?<![\w.:/\\-])(?:[\w.-]{1,60}+[/\\])?[\w.-]{1,60}+:[\"']?"
        r"(?P<value>[^\s:@/\"']{4,120}+)[\"']?@(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.])",
        password(),
        signs="|".join(f"@{digit}" for digit in range(10)),
    ),
    Rule(  # a row of what a browser knows: address, user, password
        'http|"http',
        r"(?m)^\"?https?://[^\",\s]{1,300}+\"?,\"?[^\",\n]{1,80}+\"?,\"?"
        r"(?P<value>[^\",\s]{5,80}+)\"?(?:,|$)",
        password(),
    ),
    Rule(
        "password|passphrase|passcode",
        r"(?im)(?:password|passphrase|passcode)[ \t]for[ \t][^\n:]{1,200}+:[ \t]++"
        r"(?P<value>\S{4,120}+)[ \t]*+$",
        password(Link.LOOSE),
        signs="word for |phrase for |code for ",
    ),
    Rule(  # the code that was sent, or opens a door
        "code",
        r"(?i)\bcode\b(?<!status code)(?<!error code)(?<!exit code)(?<!return code)"
        r"(?<!response code)(?<!result code)(?<!zip code)(?<!postal code)[^\n.?!0-9]{0,40}?"
        r"\b(?:texted|sms|sent|emailed|mailed|received|got|door|gate|alarm|safe|lock|locker|garage"
        r"|building|entrance|keypad|padlock|lift|elevator|lobby|apartment|flat)\b"
        r"[^\n.?!0-9]{0,30}?(?:\b(?:is|was|are)\b|[:=])[ \t]*+"
        r"(?P<value>[0-9](?:[ -]?[0-9]){3,8}+[#*]?)(?![\w.,]\w)",
    ),
    Rule(
        _LOCKED,
        rf"(?i)\b(?:{_LOCKED})\b[^\n.?!0-9]{{0,30}}?\b(?:{_TYPING})[ \t]++"
        r"(?P<value>[0-9]{4,8}+[#*]?)(?![\w.,]\w)",
        signs=_before_blanks(_TYPING),
    ),
    Rule(  # a file that is named after what it holds, and its first line
        _before_blanks("cat|more|less|head|type|bat"),
        r"(?i)\b(?:cat|more|less|head|type|bat)[ \t]++[^\s|;&<>]{0,200}"
        r"(?:pass|pwd|secret|token|cred|\.key)[^\s|;&<>]*+[ \t]*+\r?\n"
        r"(?P<value>\S{6,200}+)[ \t]*+(?:\r?\n|$)",
        password(),
    ),
    Rule(  # a command that asks for a secret, and the one word that it is answered with
        "",
        r"(?im)^[ \t]*+(?:[^\s$#%>❯]{0,80}+[ \t]?[$#%>❯][ \t]++"
        r"|(?:lpass|gopass|pass|op|bw|security)[ \t]++)"
        r"[^\n]{0,160}?(?:pass|pwd|secret|token|cred)[^\n]{0,160}+\r?\n"
        r"(?P<value>\S{6,200}+)[ \t]*+(?:\r?\n|$)",
        password(),
        signs="pass|pwd|secret|token|cred",
        line=True,
    ),
    Rule(  # typed by a script
        "send",
        r"(?i)\bsend\w{0,8}[,( \t\"']++(?P<value>[^\s{}\"']{6,80}+)\{enter\}",
        password(),
        signs="{enter}",
    ),
    Rule(  # a section of a file with a row for each account
        "[admin|[user|[account|[login",
        r"(?im)^\[(?:admins?|users?|accounts?|logins?)\][ \t]*+\n"
        rf"(?P<rows>(?:[\w.@-]{{1,60}}+[ \t]*+=[ \t]*+[^\n]{{1,{_MAX}}}+\n?)++)",
        each_row(r"=[ \t]*+[\"']?(?P<value>[^\s\"',;]{4,120}+)", password()),
    ),
    Rule(  # behind a mail address and a comma
        "@",
        rf"(?i)(?=@)(?<=[\w.+-])(?<![\w.+-]{{61}}){MAIL_HOST},[ \t]++(?P<value>[^\s,;]{{6,60}}+)",
        password(),
    ),
    Rule(
        "new one is",
        r"(?i)\bnew one is[ \t]++[\"'`]?(?P<value>[^\s\"'`,;]{6,80}+)",
        password(),
    ),
    Rule(  # SMTP: what is answered to "Password:", which it spells in base64
        "334 ugfzc3dvcmq6",
        r"334 UGFzc3dvcmQ6\s{1,4}+(?:C: )?(?P<value>[A-Za-z0-9+/]{4,200}+={0,2})",
    ),
    Rule(  # a key in groups, as people type it into an app
        "",
        r"(?P<value>[A-Z2-7](?<!\S.)[A-Z2-7]{3}(?: [A-Z2-7]{4}){3,12}+)(?![^\s.,;)\"'])",
        _with_digit,
        signs="key|secret|scan|authenticator",
    ),
)
