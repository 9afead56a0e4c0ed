"""Whether a value, by its looks, can be the secret that was announced."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from refold.scan.patterns import UUID
from refold.scan.runs import churn, has_digit, has_lower, has_upper
from refold.scan.secret_names import Grade


class Link(Enum):
    """How a value stands to the word that announces it."""

    QUOTED = "quoted"
    """Assigned, in quotes."""
    TIGHT = "tight"
    """Assigned without blanks around the sign, or after a flag of a command."""
    LOOSE = "loose"
    """Assigned with blanks, in a cell of a table, or on the next line."""
    LINE = "line"
    """The same, and nothing else stands on the line."""
    SAID = "said"
    """In a sentence, right after a word such as "is"."""
    NEAR = "near"
    """In a sentence, a few words later."""


_MARKS_BEHIND: Final = r".,;:)\]}>"
_ANYTHING: Final = rf"(?:.*[^{_MARKS_BEHIND}])?+[{_MARKS_BEHIND}]*?"
"""What stands before one of these marks: each place in a long row of them is tried once."""
_PLACEHOLDER: Final = re.compile(
    r"(?:none|null|nil|undefined|true|false|yes|no|on|off|string|str|bytes?|int|integer|number|"
    r"bool|boolean|object|any|unknown|optional|required|text|type|char|varchar|password|passwd|"
    r"pass|pwd|passphrase|passcode|secret|token|key|value|values|example|sample|test|dummy|default|"
    r"empty|unset|missing|invalid|valid|env|self|this|input|hidden|redacted|masked|removed|omitted|"
    r"user|username|name|login|email|admin|data|bearer|basic|digest|here|foo|bar|baz|todo|tbd|n/a|"
    r"required|changed|expired|revoked|encrypted|hashed|generated|expected|"
    rf"your[-_ ]?\w.*|(?:my|some|the|an?)[-_ ].*|<.*|\[{_ANYTHING}\]|\{{[^}}]*+\}}?+|\$[a-z_{{(].*|"
    rf"%[a-z_]+%?|%\(.*|[*x•.…_-]{{2,}}+|x++[.…]*+|{_ANYTHING}\.\.\.|.*…|secret-[0-9]+|"
    rf"process\.env.*|os\.environ.*)[{_MARKS_BEHIND}]*",
    re.DOTALL,
)
_CODE: Final = re.compile(
    r"[A-Za-z_$@&*!][\w$]*+(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*+)*+(?:[(\[{<]|!?\()"
    r"|[A-Za-z_$][\w$]*+(?:(?:\.|::|->|\?\.)[A-Za-z_$]\w*+)++[,;)\]}]*+$"
    r"|[\[({]|->|=>"
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z_$]*+$")
_NUMBERED: Final = re.compile(r"\w++$")
_WORDY: Final = re.compile(
    r"(?:[A-Za-z]?[a-z]++|[A-Z]++|[0-9]{1,4}+)"
    r"(?:[-_. /:](?:[A-Za-z]?[a-z]++|[A-Z]++|[0-9]{1,4}+))*+$"
)
_PLACE: Final = re.compile(r"(?:[a-z][a-z0-9+.-]{1,12}+://|[~.]{0,2}/[\w.]|[A-Za-z]:\\)")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{20,}+={0,2}$")
_MEASURE: Final = re.compile(
    r"v?[0-9]++(?:[.,:/-][0-9]++)*+[a-z%]{0,3}$|[0-9]{4}-[0-9]{2}-[0-9]{2}T|[0-9]++-[a-z]++$"
)
_TERM: Final = re.compile(
    r"(?:sha|md|utf|base|oauth|http|hs|rs|es|aes|ed|x|p|v|ipv|python|py|node|s|ec|k|log|web|totp|"
    r"argon|bcrypt|pbkdf|pkcs|tls|ssl|h|u|int|float|uint|i|f)-?[0-9]++[a-z]?(?:-[a-z]{2,4})?$",
    re.IGNORECASE,
)
_FILE: Final = re.compile(r"[\w./-]+\.[a-z]{1,5}(?::[0-9]++)*+$")
_UUID: Final = re.compile(UUID)
_ARGUMENT: Final = re.compile(r"[\w.-]++=|[@/(]|.*[\\<>]|[a-z_]++[0-9]{0,2}$")
"""What stands near such words in talk about code: `legacy=True`, `@host`, `new_password1`."""
_SYMBOL: Final = re.compile(r"[!@#$%^&*?~+=|]")
_JOINTS: Final = re.compile(r"(?<=[0-9])[ -](?=[0-9])")
_BLANK: Final = re.compile(r"\s")
_HEX: Final = re.compile(r"[0-9a-fA-F]{16,}+$")
_MAX_WORDS: Final = 24
_MAX_MIXED_WORDS: Final = 6
"""Words of a passphrase: as many as the longest seed phrase has, and fewer where signs stand among
them as in a sentence. Guesses."""
_MIN_OF_TWO: Final = 7
"""Two shorter words are mostly a label."""
_MARKS: Final = ".,;:!?()"
_SAYING: Final = frozenset(
    "a an and are as at be by can cannot do does enter for from has have if in is it its may more "
    "must no not of on or our please should than that the their then this to too was we will with "
    "you your password passwords passwd passphrase secret token key username user users account "
    "email login invalid incorrect wrong missing required empty blank short long length match "
    "matches least most characters character digits forgot reset change changed current confirm "
    "confirmation again field error failed expired hashed encrypted optional new old der die das "
    "und ist nicht ein eine bitte le la les de des el los las y es un una".split()
)
"""Words of labels and sentences, which no passphrase has."""
_MIN_CHURN: Final = 0.18
_MIN_DATA_CHURN: Final = 0.3
"""How often the kind of character must change, in values that a word announces and in those that
look like paths. Below what `secret_looks` asks of a token that stands alone. Guesses."""


def can_be_secret(value: str, grade: Grade, link: Link, *, in_call: bool = False) -> bool:
    """Return whether *value* can be what a word of *grade* announces, linked in this way.

    *in_call* says that a comma or bracket follows, as after an argument in code.
    """
    if not value or _PLACEHOLDER.fullmatch(value.lower()):
        return False
    if grade is Grade.CODE:
        digits = _JOINTS.sub("", value.rstrip("#*"))
        return (digits.isdecimal() and 3 <= len(digits) <= 8) or (
            link is not Link.NEAR and len(value) >= 5 and _is_strong(value)
        )
    if link is not Link.QUOTED and _CODE.match(value):
        return is_chance(value) and "(" not in value
    if grade is Grade.WEAK:
        return link is not Link.NEAR and len(value) >= 16 and is_chance(value)
    if link in (Link.SAID, Link.NEAR):
        return _can_be_said(value, grade, link)
    if grade is Grade.PASSWORD:
        return _can_be_password(value, link, in_call)
    return _can_be_token(value, link)


def _can_be_password(value: str, link: Link, in_call: bool) -> bool:
    size = len(value)
    if _BLANK.search(value):
        return link is Link.QUOTED and _is_passphrase(value.split())
    if _is_place(value):
        return False
    if link is Link.QUOTED:
        return size >= 3
    if _IDENTIFIER.match(value):  # may be a variable as well
        if in_call or link is Link.TIGHT:
            return not in_call
        is_word = value.isalpha() and (value[1:].islower() or value.isupper())
        return link is Link.LINE and is_word and size >= 5
    if in_call and link is Link.LOOSE and _NUMBERED.match(value):
        return size >= 8
    return size >= (3 if link is Link.TIGHT else 4)


def _is_passphrase(words: list[str]) -> bool:
    """Return whether these are words of a passphrase, not of a sentence or a label."""
    if not 2 <= len(words) <= _MAX_WORDS:
        return False
    if not _SAYING.isdisjoint(word.lower().strip(_MARKS) for word in words):
        return False
    least = _MIN_OF_TWO if len(words) == 2 else 1
    if all(word == word.lower() and word.isalnum() and len(word) >= least for word in words):
        return True
    return len(words) <= _MAX_MIXED_WORDS and any(
        has_digit(word) and _is_strong(word) for word in (word.strip(_MARKS) for word in words)
    )


def _can_be_token(value: str, link: Link) -> bool:
    if _BLANK.search(value) or _is_place(value) or _MEASURE.match(value):
        return value.isdecimal() and len(value) >= 6
    if _FILE.match(value) and not is_chance(value):
        return False
    if not has_digit(value):
        is_run = value.isalpha() and (value.islower() or value.isupper() or churn(value) > 0.3)
        return is_run and len(value) >= (12 if link in (Link.QUOTED, Link.TIGHT) else 16)
    if _TERM.match(value):
        return False
    if _WORDY.match(value):
        return link in (Link.QUOTED, Link.LINE) and len(value) >= 12
    return len(value) >= (6 if link in (Link.QUOTED, Link.TIGHT) else 8)


def _can_be_said(value: str, grade: Grade, link: Link) -> bool:
    if _MEASURE.match(value) or _TERM.match(value) or _FILE.match(value) or _is_place(value):
        return False
    is_direct = grade is Grade.PASSWORD and link is Link.SAID
    if _BLANK.search(value):
        return is_direct and _is_passphrase(value.split())
    if not _is_strong(value) or _UUID.search(value):
        return False
    if _WORDY.match(value) and not (is_direct and has_digit(value)):
        return False
    if _ARGUMENT.match(value) and not (link is Link.SAID and value.isalnum()):
        return False
    if is_direct:
        return len(value) >= 6
    return len(value) >= 8 and (is_chance(value) or _SYMBOL.search(value) is not None)


def _is_place(value: str) -> bool:
    """Return whether this is a path or an address, not base64, which has slashes too."""
    if _PLACE.match(value) is None:
        return False
    return _BASE64.match(value) is None or churn(value) < _MIN_DATA_CHURN


def _is_strong(value: str) -> bool:
    """Return whether letters are mixed with digits or signs."""
    mixed = has_lower(value) + has_upper(value) + (_SYMBOL.search(value) is not None)
    return mixed + 2 * has_digit(value) >= 3


def is_chance(value: str) -> bool:
    """Return whether letters and digits alternate as they do in no word."""
    if not has_digit(value) or not (has_lower(value) or has_upper(value)):
        return False
    if _WORDY.match(value) or _FILE.match(value) or _is_place(value):
        return False
    if "\\" in value or _UUID.search(value):
        return False
    return _HEX.match(value) is not None or churn(value) >= _MIN_CHURN
