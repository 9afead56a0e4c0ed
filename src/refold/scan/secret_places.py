"""Secrets known by the place where they stand: addresses, headers, cookies, commands, files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from refold.scan.patterns import MAIL
from refold.scan.runs import Span, has_digit
from refold.scan.secret_names import Grade
from refold.scan.secret_values import Link, can_be_secret, is_chance

_MAX: Final = 1_024
"""Characters of a value that are read; it bounds the time, and longer ones are seldom. A guess."""

_USER: Final = re.compile(
    rf"://(?P<user>[^\s/:@\"'<>?#]{{0,{_MAX}}}+)(?P<rest>:[^\s/\"'<>]{{1,{_MAX}}}+|@)"
)
_QUERY: Final = re.compile(
    rf"[?&;#](?:amp;)?(?P<name>[\w.-]{{1,40}}+)=(?P<value>[^\s&#\"'<>;`)\]]{{6,{_MAX}}}+)", re.ASCII
)
_QUERY_NAME: Final = re.compile(
    r"(?:key|sig|signature|token|auth|code|secret|password|passwd|pwd|pass|session|sid|jwt"
    r"|credential|hash|hmac|ticket|sas|pat|st)$",
    re.IGNORECASE,
)
_HOOK: Final = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/(?P<slack>[\w/-]{20,200}+)"
    r"|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{15,22}/(?P<discord>[\w-]{30,100}+)"
    r"|webhook\.office\.com/webhookb2/(?P<office>[\w@/-]{40,300}+)"
    r"|api\.telegram\.org/bot(?P<telegram>[0-9]{6,12}:[\w-]{20,60}+)"
    r"|hooks\.zapier\.com/hooks/catch/(?P<zapier>[\w/]{8,80}+)"
    r"|maker\.ifttt\.com/trigger/[\w-]{1,60}/with/key/(?P<ifttt>[\w-]{10,80}+)"
    r"|(?:oapi\.dingtalk\.com/robot/send\?access_token=|open\.feishu\.cn/open-apis/bot/v2/hook/)"
    r"(?P<robot>[\w-]{20,80}+))"
)
_HEADER: Final = re.compile(
    r"(?:proxy-)?authorization[\"'\\\])]{0,4}+[ \t]*+[:=,][ \t]*+[\"'\\]{0,3}"
    r"(?:(?P<scheme>[a-z][a-z0-9-]{1,20})[ \t]++)?"
    rf"(?P<value>[^\s\"'`\\<>]{{4,{_MAX}}}+(?:,?[ \t]++\w{{1,20}}=[^\s\"'`]{{1,{_MAX}}}+)*+)",
    re.I,
)
_BEARER: Final = re.compile(
    rf"\b(?:bearer|basic)[ \t]++(?:\\?\r?\n[ \t]*+)?(?P<value>[A-Za-z0-9._~+/-]{{8,{_MAX}}}+=*+)",
    re.I,
)
_SECRET_HEADER: Final = re.compile(
    r"(?<![\w-])x-[\w-]{0,40}?(?:secret|token|password|key)[\"']?[ \t]*+:[ \t]*+[\"']?"
    r"(?P<value>[\w.~+/=-]{8,200}+)",
    re.I,
)
"""A custom header, named after what it holds."""
_COOKIES: Final = re.compile(
    rf"\b(?:set-)?cookie[\"'\\\])]{{0,4}}+[ \t]*+[:=,][ \t]*+[\"'\\]{{0,3}}"
    rf"(?P<pairs>[^\n\"'\\]{{1,{2 * _MAX}}}+)"
    rf"|(?:--cookie|[ \t]-b)[ \t=]++[\"']?(?P<sent>[^\n\"']{{1,{2 * _MAX}}}+)",
    re.I,
)
_PAIR: Final = re.compile(r"(?P<name>[\w.$-]{1,80}+)=(?P<value>[^;\s,]++)")
_ATTRIBUTES: Final = frozenset("path domain expires max-age samesite version priority".split())
_NETRC: Final = re.compile(
    rf"\b(?:machine\s+\S{{1,200}}+|default)\s+(?:login|user)\s+\S{{1,200}}+\s+(?:account\s+\S{{1,200}}+\s+)?"
    rf"password\s+(?P<value>\S{{1,{_MAX}}}+)"
    rf"|\blogin\s+\S{{1,200}}+\s+password\s+(?P<login>\S{{1,{_MAX}}}+)",
    re.I,
)
_PGPASS: Final = re.compile(
    rf"^[\w.*-]{{1,200}}+:(?:[0-9]{{4,5}}+|\*):[\w.*-]{{1,100}}+:[\w.*@-]{{1,100}}+:(?P<value>[^\s:]{{4,{_MAX}}}+)$",
    re.M,
)
_HTPASSWD: Final = re.compile(
    r"(?P<value>\$(?:apr1|2[abxy]|5|6|1|y|argon2[a-z]*)\$[^\s:\"']{16,200}+)"
)
_HASHED: Final = re.compile(
    r"(?P<value>(?:pbkdf2[:_-]\w{3,12}|scrypt|bcrypt(?:_sha256)?|argon2\w{0,2}|sha(?:256|512)_crypt)"
    r"[$:][^\s\"']{20,300}+|\{(?:S?SHA(?:256|512)?|S?MD5|CRYPT|PBKDF2[\w-]{0,10})\}[^\s\"']{16,200}+)"
    r"|\{(?:PLAIN|CLEARTEXT|CLEAR)\}(?P<plain>[^\s\"':]{4,120}+)",
    re.I,
)
_CHAP: Final = re.compile(
    r"^\S{1,80}+[ \t]++\*[ \t]++[\"']?(?P<value>[^\s\"'*]{4,80}+)[\"']?[ \t]++\S{1,40}+$", re.M
)
_KUBERNETES: Final = re.compile(
    r"^[ \t]*+(?:data|stringData):[ \t]*+\n"
    rf"(?P<rows>(?:[ \t]++[\w.-]{{1,100}}+:[ \t][^\n]{{1,{8 * _MAX}}}+\n?)++)",
    re.M,
)
_KUBERNETES_ROW: Final = re.compile(r":[ \t]++[\"']?(?P<value>[^\s\"'#|>][^\s\"']{2,}+)")
_AWS_SECRET: Final = re.compile(
    r"(?<![A-Za-z0-9/+=])(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)
_AWS_ID: Final = re.compile(r"A[KS]IA[A-Z0-9]{16}")
_AWS_NEAR: Final = 240
"""How far behind its id the secret half of a pair stands: a few lines of a file. A guess."""
_JWK: Final = re.compile(
    r"\"(?:d|p|q|dp|dq|qi|k)\"[ \t]*+:[ \t]*+\"(?P<value>[A-Za-z0-9_-]{16,4096}+)\""
)
_AUTH_PAIR: Final = re.compile(
    r"\b(?:auth|credentials|basic_?auth)[ \t]*+[=:,(][ \t]*+[(\[][ \t]*+[\"'][^\"'\n]{1,80}+"
    r"[\"'][ \t]*+,[ \t]*+[\"'](?P<value>[^\"'\n]{3,200}+)",
    re.I,
)
_WIFI: Final = re.compile(r"\bWIFI:[^\n]{0,120}?\bP:(?P<value>(?:[^;\\\n]|\\.){4,80}+)")
_ORACLE: Final = re.compile(
    r"(?:thin:|\b(?:sqlplus|sqlldr|expdp|impdp|rman)[ \t]++(?:-\w++[ \t]++)?)[\w.$]{1,60}+/"
    r"(?P<value>[^\s/@\"']{3,200}+)@",
    re.I,
)
_DOCKER: Final = re.compile(
    r"(?:\"auth\"|_auth)[ \t]*+[:=][ \t]*+[\"']?(?P<value>[A-Za-z0-9+/]{6,2048}+={0,2})"
)

_DSN: Final = re.compile(
    r"(?<![\w/.-])[\w.-]{1,60}+:(?P<value>[^\s:@/\"']{3,120}+)@(?:tcp|udp|unix)\("
)
_AT_ADDRESS: Final = re.compile(
    r"(?<![\w.:/\\-])(?:[\w.-]{1,60}+[/\\])?[\w.-]{1,60}+:[\"']?(?P<value>[^\s:@/\"']{4,120}+)"
    r"[\"']?@(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.])"
)
_PROMPT: Final = re.compile(
    r"(?:password|passphrase|passcode)[ \t]for[ \t][^\n:]{1,200}+:[ \t]++"
    r"(?P<value>\S{4,120}+)[ \t]*+$",
    re.I | re.M,
)
_EXPORTED: Final = re.compile(
    r"^\"?https?://[^\",\s]{1,300}+\"?,\"?[^\",\n]{1,80}+\"?,\"?"
    r"(?P<value>[^\",\s]{5,80}+)\"?(?:,|$)",
    re.M,
)
"""A row of what a browser knows: address, user, password."""
_SENT_CODE: Final = re.compile(
    r"\bcode\b(?<!status code)(?<!error code)(?<!exit code)(?<!return code)(?<!response code)"
    r"(?<!result code)(?<!zip code)(?<!postal code)[^\n.?!0-9]{0,40}?"
    r"\b(?:texted|sms|sent|emailed|mailed|received|got|door|gate|alarm|safe|lock|locker|garage"
    r"|building|entrance|keypad|padlock|lift|elevator|lobby|apartment|flat)\b"
    r"[^\n.?!0-9]{0,30}?(?:\b(?:is|was|are)\b|[:=])[ \t]*+"
    r"(?P<value>[0-9](?:[ -]?[0-9]){3,8}+[#*]?)(?![\w.,]\w)",
    re.I,
)
_TYPING: Final = ("type", "enter", "dial", "punch in", "opens with")
_LOCKED: Final = ("alarm", "door", "gate", "safe", "lock", "keypad", "garage")
_TYPED_CODE: Final = re.compile(
    rf"\b(?:{'|'.join(_LOCKED)})\b[^\n.?!0-9]{{0,30}}?"
    rf"\b(?:{'|'.join(_TYPING)})"
    r"[ \t]++(?P<value>[0-9]{4,8}+[#*]?)(?![\w.,]\w)",
    re.I,
)
_PRINTED: Final = re.compile(
    r"\b(?:cat|more|less|head|type|bat)[ \t]++[^\s|;&<>]{0,200}(?:pass|pwd|secret|token|cred|\.key)"
    r"[^\s|;&<>]*+[ \t]*+\r?\n(?P<value>\S{6,200}+)[ \t]*+(?:\r?\n|$)",
    re.I,
)
"""A file that is named after what it holds, and its first line."""
_ANSWERED: Final = re.compile(
    r"^[ \t]*+(?:[^\s$#%>❯]{0,80}+[ \t]?[$#%>❯][ \t]++|(?:lpass|gopass|pass|op|bw|security)[ \t]++)"
    r"[^\n]{0,160}?(?:pass|pwd|secret|token|cred)[^\n]{0,160}+\r?\n"
    r"(?P<value>\S{6,200}+)[ \t]*+(?:\r?\n|$)",
    re.I | re.M,
)
"""A command that asks for a secret, and the one word that it is answered with."""
_TYPED_KEYS: Final = re.compile(
    r"\bsend\w{0,8}[,( \t\"']++(?P<value>[^\s{}\"']{6,80}+)\{enter\}", re.I
)
_ACCOUNTS: Final = re.compile(
    r"^\[(?:admins?|users?|accounts?|logins?)\][ \t]*+\n"
    rf"(?P<rows>(?:[\w.@-]{{1,60}}+[ \t]*+=[ \t]*+[^\n]{{1,{_MAX}}}+\n?)++)",
    re.M | re.I,
)
"""A section of a file with a row for each account."""
_ACCOUNT_ROW: Final = re.compile(r"=[ \t]*+[\"']?(?P<value>[^\s\"',;]{4,120}+)")
_AFTER_EMAIL: Final = re.compile(rf"(?<![\w.+-]){MAIL},[ \t]++(?P<value>[^\s,;]{{6,60}}+)", re.I)
_NEW_ONE: Final = re.compile(r"\bnew one is[ \t]++[\"'`]?(?P<value>[^\s\"'`,;]{6,80}+)", re.I)
_SMTP: Final = re.compile(r"334 UGFzc3dvcmQ6\s{1,4}+(?:C: )?(?P<value>[A-Za-z0-9+/]{4,200}+={0,2})")
"""What is answered to "Password:", which the protocol spells in base64."""
_BASE32: Final = re.compile(r"(?<!\S)(?P<value>[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,12}+)(?![^\s.,;)\"'])")


def find_placed(text: str, seen: Iterable[str]) -> Iterator[Span]:
    """Yield what stands where only secrets stand; *seen* are the signs in the lower-cased text."""
    for find in dict.fromkeys(find for sign in seen for find in _BY_SIGN.get(sign, ())):
        yield from find(text)


def _passwords_of_urls(text: str) -> Iterator[Span]:
    for found in _USER.finditer(text):
        rest = found["rest"]
        length = rest.rfind("@")  # the last one: a password may have one too
        if rest[0] == ":" and can_be_secret(rest[1:length], Grade.PASSWORD, Link.TIGHT):
            yield found.start("rest") + 1, found.start("rest") + length
        if length >= 0 and len(found["user"]) >= 16 and is_chance(found["user"]):
            yield found.span("user")


def _tokens_of_queries(text: str) -> Iterator[Span]:
    for found in _QUERY.finditer(text):
        value = found["value"]
        if not _QUERY_NAME.search(found["name"]) or not has_digit(value):
            continue
        if can_be_secret(value, Grade.SECRET, Link.TIGHT):
            yield found.span("value")


def _authorizations(text: str) -> Iterator[Span]:
    for found in _HEADER.finditer(text):
        value = found["value"].rstrip(".,;:!?)]}")
        is_word = value.isalpha() and not (found["scheme"] and len(value) >= 8)
        if not is_word and can_be_secret(value.split()[0], Grade.PASSWORD, Link.TIGHT):
            yield found.start("value"), found.start("value") + len(value)
    for found in _BEARER.finditer(text):
        value = found["value"].rstrip(".")
        if has_digit(value) and can_be_secret(value, Grade.SECRET, Link.TIGHT):
            yield found.start("value"), found.start("value") + len(value)


def _cookies(text: str) -> Iterator[Span]:
    for found in _COOKIES.finditer(text):
        start, end = found.span(found.lastgroup or "pairs")
        for pair in _PAIR.finditer(text, start, end):
            value = pair["value"]
            if pair["name"].lower() not in _ATTRIBUTES and len(value) >= 6 and has_digit(value):
                yield pair.span("value")


def _passwords(pattern: re.Pattern[str], link: Link = Link.SAID) -> Callable[[str], Iterator[Span]]:
    """Make a finder of what stands in such a place and can be a password."""

    def find(text: str) -> Iterator[Span]:
        for found in pattern.finditer(text):
            if can_be_secret(found["value"], Grade.PASSWORD, link):
                yield found.span("value")

    return find


def _in_groups(text: str) -> Iterator[Span]:
    for found in _BASE32.finditer(text):
        if has_digit(found["value"]):
            yield found.span("value")


def _accounts(text: str) -> Iterator[Span]:
    for block in _ACCOUNTS.finditer(text):
        for row in _ACCOUNT_ROW.finditer(text, *block.span("rows")):
            if can_be_secret(row["value"], Grade.PASSWORD, Link.SAID):
                yield row.span("value")


def _kubernetes(text: str) -> Iterator[Span]:
    for block in _KUBERNETES.finditer(text):
        for row in _KUBERNETES_ROW.finditer(text, *block.span("rows")):
            yield row.span("value")


def _aws(text: str) -> Iterator[Span]:
    """Yield the secret halves of pairs, which are recognized by the id before them."""
    done = 0
    for key in _AWS_ID.finditer(text):
        start = max(done, key.end())
        done = key.end() + _AWS_NEAR
        for found in _AWS_SECRET.finditer(text, start, min(len(text), done)):
            if is_chance(found["value"]):
                yield found.span("value")


def _by(pattern: re.Pattern[str], *needed: str) -> Callable[[str], Iterator[Span]]:
    """Make a finder of what a group of *pattern* holds, if that is no variable.

    It is not looked for in texts without any of the *needed* words, which are in ASCII.
    """

    def find(text: str) -> Iterator[Span]:
        lower = text.lower() if needed else ""
        if needed and lower.isascii() and not any(word in lower for word in needed):
            return
        for found in pattern.finditer(text):
            kind = found.lastgroup
            if kind is not None and not found[kind].startswith(("$(", "${", "<", "{")):
                yield found.span(kind)

    return find


_FINDERS: Final = (
    (("://",), _passwords_of_urls),
    (("=",), _tokens_of_queries),
    (("hook", "api.telegram", "with/key/", "robot/send"), _by(_HOOK)),
    (("authorization", "bearer", "basic"), _authorizations),
    (("x-",), _passwords(_SECRET_HEADER, Link.TIGHT)),
    (("cookie", " -b "), _cookies),
    (("password ", "password\t", "password\n"), _by(_NETRC)),
    ((":*:", ":5432:", ":6432:", ":3306:", ":5433:"), _by(_PGPASS)),
    (("$apr1$", "$2", "$1$", "$5$", "$6$", "$y$", "$argon2"), _by(_HTPASSWD)),
    (
        ("pbkdf2", "crypt", "argon2", "sha}", "sha256}", "sha512}", "md5}", "{plain}", "{clear"),
        _by(_HASHED),
    ),
    (("chap", "pap-secrets"), _by(_CHAP)),
    (("kind: secret", '"kind": "secret"'), _kubernetes),
    (("akia", "asia"), _aws),
    (('"kty"',), _by(_JWK)),
    (("auth",), _by(_DOCKER)),
    (("thin:", "sqlplus", "sqlldr", "expdp", "impdp", "rman"), _by(_ORACLE)),
    (("auth", "credentials"), _by(_AUTH_PAIR)),
    (("wifi:",), _by(_WIFI)),
    (("@tcp(", "@udp(", "@unix("), _by(_DSN)),
    (tuple(f"@{digit}" for digit in range(10)), _passwords(_AT_ADDRESS)),
    (("http",), _passwords(_EXPORTED)),
    (("word for ", "phrase for ", "code for "), _passwords(_PROMPT, Link.LOOSE)),
    (("code",), _by(_SENT_CODE)),
    # Locks and gates are in too many words; what is done with the code, in few.
    (
        tuple(f"{verb}{blank}" for verb in _TYPING for blank in " \t"),
        _by(_TYPED_CODE, *_LOCKED),
    ),
    (("cat ", "more ", "less ", "head ", "type ", "bat "), _passwords(_PRINTED)),
    (("pass", "pwd", "secret", "token", "cred"), _passwords(_ANSWERED)),
    (("{enter}",), _passwords(_TYPED_KEYS)),
    (("[admin", "[user", "[account", "[login"), _accounts),
    (("@",), _passwords(_AFTER_EMAIL)),
    (("new one is",), _passwords(_NEW_ONE)),
    (("334 ugfzc3dvcmq6",), _by(_SMTP)),
    (("key", "secret", "scan", "authenticator"), _in_groups),
)
"""What must be in the lower-cased text for each, and each."""
_BY_SIGN: Final = {
    sign: [find for signs, find in _FINDERS if sign in signs]
    for signs, _ in _FINDERS
    for sign in signs
}
PLACE_SIGNS: Final = tuple(_BY_SIGN)
