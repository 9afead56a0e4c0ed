"""Find the secrets of a text: keys, tokens, passwords, private keys, cards, bank accounts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from refold.lazy import regex
from refold.scan.patterns import UUID, UUID_HEAD, find_ibans
from refold.scan.runs import Span, churn, has_digit, has_lower, has_upper
from refold.scan.secret_table import GRADES, KEYS, NAMES, PLACES, PREFIXED, WORDS, Grade, read_rows

Link = IntEnum("Link", "LOOSE LINE TIGHT QUOTED")
"""How a value is assigned: with blanks, as all of a line, without blanks, quoted."""
Look = IntEnum("Look", "NOTHING WORD NUMBERED MIXED ALONE")
"""How little a value looks like language or code: NOTHING is not a secret (a placeholder, a path, a
call), NUMBERED has letters and digits, MIXED is a password where a text is about accounts, and what
looks like ALONE is one wherever it stands."""


class Name(NamedTuple):
    """A word in a text after which a secret may stand."""

    start: int
    end: int
    grade: Grade


def find_secrets(text: str) -> list[Span]:
    """Return where the secrets of *text* are, in reading order.

    They are known by shape (keys of services, private keys, cards, bank accounts), by place, by the
    word before them (`password=…`), and by their look near such a word. In doubt it is a secret,
    since what is hidden is put back later. Always linear.
    """
    names = list(_names(text))
    spans = [*find_keys(text), *_wrapped(text), *_numbers(text), *find_ibans(text)]
    spans += [*_assigned(text, names), *_near(text, names)]
    if "-----" in text or "---- BEGIN" in text or "Private-Lines" in text:
        spans += [match.span() for match in _ARMOR.finditer(text)]
    for word, pattern, is_random in PLACES:
        for match in pattern.finditer(text) if word in text else ():
            value = match["value"].rstrip(".,;:!?)]}")
            look = _look(value, quoted=not is_random)
            if look >= (Look.MIXED if is_random else Look.WORD) or value[:1] in {"$", "{"}:
                spans.append((match.start("value"), match.start("value") + len(value)))
    return merged(text, spans)


def announces_secrets(text: str) -> bool:
    """Tell whether a word of *text* announces a secret."""
    return any(name.grade >= Grade.SECRET for name in _names(text))


def merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return *spans* in order, those that overlap as one, without empty ones."""
    joined: list[Span] = []
    for start, end in sorted((max(0, a), min(b, len(text))) for a, b in spans):
        if start < end and joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif start < end:
            joined.append((start, end))
    return joined


_ARMOR: Final = regex(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}?(?:PRIVATE KEY(?: BLOCK)?|KEY V1|NKEY SEED) ?-{4,5}(?:(?:\s"
    r"|\\[nrt]|[\"'+,>|])*+(?:[A-Za-z][A-Za-z-]{2,20}: ?[^\n\\]{1,80}+|=?[A-Za-z0-9+/=]{4,}+))++"
    r"(?:(?:\s|\\[nrt]|[\"'+,>|])*+(?:[\w+/=]{1,3}\s*+(?:\\n)?)?-{4,6} ?END [A-Z0-9 ]{0,50}-{4,6})?"
    r"|(?:(?<![^\n])[ \t\r>]{0,40}+[A-Za-z0-9+/=]{4,100}+\n){1,99}-{4,5} ?END [A-Z ]{0,40}"
    r"PRIVATE KEY-{4,5}"
    r"|(?<![^\n])Private-Lines: [0-9]+\s++(?:[A-Za-z0-9+/=]{12,}+\s*+)++",
    re.I,
)
_RUN: Final = regex(r"[A-Za-z0-9_-]{20,}+")
_BEGIN: Final = regex(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_$]")
_WORDS: Final = regex(rf"(?<![a-z])[a-z]{{2,}}+-[a-z]{{2,}}+-|{UUID_HEAD}")
_PIECE: Final = regex(r"[A-Za-z0-9]{16,}+")
_ID: Final = regex(r"(?i).[a-f0-9]+|pack|diff|commit|blob|tree|msg|req|run|call|toolu|test\w*")
"""The first group of a dump, or what begins the names of things."""


def find_keys(text: str) -> Iterator[Span]:
    """Yield the keys that are known by their shape, and random tokens with a prefix."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        # What stands before the first run of so many characters, as in `SG.` and `hvs.`, is short.
        for begin in _BEGIN.finditer(text, max(0, start - 24), start + 1):
            key = KEYS.match(text, begin.start())
            is_name = key and key[0].islower() and key[0].count("-") > 2 and not has_digit(key[0])
            if key and not is_name:
                yield key.span()
        token = PREFIXED.match(text, start, end)
        if token and _is_random(token["body"]) and not _ID.fullmatch(token["other"] or "x"):
            yield token.span()


_GAP: Final = r"(?:\\?\r?\n[ \t>|]*+|[\"'][ \t]*+[\\+]?\r?\n[ \t]*+[\"'])"
_WRAPPED: Final = regex(
    rf"(?<![\w.-])[A-Za-z]{{2,8}}[-_][A-Za-z0-9_.-]{{8,}}+(?:{_GAP}[A-Za-z0-9_-]{{6,}}+)++"
)


def _wrapped(text: str) -> Iterator[Span]:
    """Yield the keys that continue in the next line, or in the other half of a string."""
    for key in _WRAPPED.finditer(text):
        joined = re.sub(_GAP, "", key[0])
        if (KEYS.fullmatch(joined) or PREFIXED.fullmatch(joined)) and churn(joined) >= 0.3:
            yield key.span()


def _is_random(body: str) -> bool:
    """Return whether a run of letters, digits, `-` and `_` looks like chance rather than words."""
    if _WORDS.search(body) or body.isalpha() or not has_digit(body):
        return False
    # "20240115T093000Z" is a time: a key has more than two letters.
    return churn(body) >= 0.3 or any(
        has_digit(piece) and sum(map(str.isalpha, piece)) > 2 for piece in _PIECE.findall(body)
    )


_OTHER_THING: Final = regex(rf"(?:{'|'.join(WORDS['property'])})$")
"""Properties of a secret that are not secrets themselves."""
_SUFFIX: Final = regex(r"(?:[_.-]?[0-9]{1,3}|(?:[_-][a-z0-9]{1,12}){1,3})(?![a-z0-9_])")


def _names(text: str) -> Iterator[Name]:
    """Yield the words of *text* that announce secrets."""
    lower = text.lower()
    if len(lower) != len(text):  # some capitals have small letters of two characters
        lower = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    match = NAMES.search(lower)
    while match is not None:
        start, end = match.span()
        word = match[0]
        grade = GRADES[re.sub("[ _.-]", "", word)]
        before, after = lower[start - 1 : start], lower[end : end + 2]
        is_inside = before.isascii() and before.isalnum()
        is_hump = is_inside and text[start] != lower[start] and text[start - 1] == before
        # Words of few letters are parts of too many others; some are written together with a name.
        is_short = word.isascii() and (len(word) <= 4 or grade <= Grade.WEAK)
        is_glued = word in {"pwd", "pw"} and after[:1] in {"=", ":", '"'}
        is_name = not is_short or not is_inside or is_hump or is_glued
        if after[:1] == "s" and not after[1:].isalnum():
            end, after = end + 1, lower[end + 1 : end + 3]
        if re.match(r"[a-z0-9_]|[.-][a-z0-9]", after) and word[-1].isascii():
            suffix = _SUFFIX.match(lower, end)
            is_name &= suffix is not None and not _OTHER_THING.search(suffix[0])
            end, grade = (suffix.end(), min(grade, Grade.SECRET)) if suffix else (end, grade)
        if word == "pass" and text[start:end].isupper() and before != "_":
            grade = Grade.TALK  # the verdict of a test
        if is_name:
            yield Name(start, end, grade)
        match = NAMES.search(lower, match.end() if is_name else start + 1)


_CLOSE: Final = r"(?:[\\\"'`*\])»”」』]{0,8}+(?:&quot;|&#3[49];|\\{1,2}u002[27]|%2[27])?)"
_SIGN: Final = regex(
    rf"{_CLOSE}([ \t]*+)(?::[ \t]*+\w{{2,12}}[ \t]++=|:=|=>|->|\?=|(?:[:=：＝]|>{{1,2}})(?!=)"
    r"|%3[ADad])((?:[ \t]|%20|\*\*)*+)"
)
_WAYS: Final = tuple(
    (Link[link], regex(_CLOSE + way, re.I), before and regex(before, re.I))
    for link, rest in read_rows("ways")
    for way, _, before in (rest.partition("<= "),)
)
"""How a value follows its word if not after a sign, and what must stand before the word."""
_SCHEME: Final = regex(
    r"(?:<!\[CDATA\[)?(?:convertto-securestring[ \t]+|\w{2,12}(?:::make|\.encode)?\((?=[\"']))?"
    r"(?:(?:basic|bearer|digest|token|negotiate|apikey)[ \t:]+)?(?:base64:)?"
    r"(?:[bfru]{1,2}(?=[\"'])|&quot;|\\{1,2}u002[27]|%2[27])?",
    re.I,
)
_VALUE: Final = regex(
    r"\\{1,3}[\"'](?P<escaped>(?:(?!\\{1,4}+[\"'])[^\"'\n]){1,256}+)"
    r"|\"(?P<double>(?:[^\"\\\n]|\\.){1,256}+)|'(?P<single>(?:[^'\\\n]|\\.){1,256}+)"
    r"|`(?P<ticks>[^`\n]{1,256}+)|[“„«「『](?P<marks>[^“”«»「」『』\n]{1,256}+)"
    r"|(?P<bare>(?:(?!</|\\[nrt]|&quot;|\\u002|%22|%26|[&;,][A-Za-z_][\w.-]*+=)"
    r"[^\s\"'`|│、。，；）】」』”»]){1,256}+)"
)
_REST: Final = regex(r"[^\s\"'`]*+")
_LINE_END: Final = regex(r"[ \t]*+(?:\r|\n|\\n|$|#|//|\|)")


def _assigned(text: str, names: Iterable[Name]) -> Iterator[Span]:
    """Yield what is assigned to *names*: after a sign or flag, on the next line, in a pair."""
    done = 0
    for name in names:
        if name.start < done or name.grade is Grade.TALK:
            continue  # part of a secret
        span = None
        if sign := _SIGN.match(text, name.end):
            link = Link.LOOSE if sign[1] or sign[2] else Link.TIGHT
            span = _value_at(text, sign.end(), name.grade, link)
        for link, way, before in _WAYS if span is None else ():
            match = way.match(text, name.end)
            if match and (not before or before.search(text, max(0, name.start - 56), name.start)):
                span = _value_at(text, match.end(), name.grade, link)
                break
        if span is not None:
            done = span[1]
            yield span


def _value_at(text: str, start: int, grade: Grade, link: Link) -> Span | None:
    """Return the value that begins at *start*, if it can be a secret."""
    scheme = _SCHEME.match(text, start)
    match = _VALUE.match(text, scheme.end() if scheme else start)
    if match is None:
        return None
    start, end = match.span(kind := match.lastgroup or "bare")
    value, in_call = text[start:end], False
    if kind == "bare":
        is_last = _LINE_END.match(text, end) is not None
        value = value.rstrip(".,;:!?)]}>\\")
        tail = text[start + len(value) : end]
        if tail[:1] in {")", "}"} and {")": "(", "}": "{"}[tail[0]] in value:
            value, tail = value + tail[0], tail[1:]
        if link is Link.LINE and not is_last:
            return None
        if link is Link.LOOSE and is_last and not tail:
            link = Link.LINE
        in_call = (tail[:1] or text[end : end + 1] or "\n") in ",);}`"
        end = start + len(value)
    else:
        link = Link.QUOTED
    if not _can_be_assigned(value, grade, link, in_call=in_call):
        return None
    rest = _REST.match(text, end) if end - start >= 256 else None
    return start, rest.end() if rest else end


_TOKEN: Final = regex(
    r"(?<![A-Za-z0-9_.])(?=[^\s0-9]{0,40}[0-9!#$%^*~])(?:[A-Za-z0-9+/_-]{20,}+={0,2}"
    r"|[A-Za-z0-9_\u00c0-\u024f!#$^&?~@%+*-]{5,40}+)(?![/(=]|[.:][A-Za-z0-9])"
)
_AFTER: Final = regex(
    r"[\"'`*)]*+(?:[^.!\n]{0,60}(?:[\s'](?:is|was|are|from|to|now|it'?s|lautet|ist|est|sont|es|son|é"
    r"|será|это|теперь|è|jest|är|er|este|hai|là|je|คือ)\s(?:[^\W\d_]{1,8} )?|[:=?：—–]"
    r"|は|が|是|为|為|叫|은|는))?[\s\"'`*“「]*+",
    re.I,
)
# What stands between a user, or talk of an account, and a password.
_PAIR: Final = regex(r"(?<![\w/:.-])[\w.+@-]{2,60}(?: ?[/|] |/| ?: ?)[\"'`]?$")
_CODES: Final = regex(
    r"(?<=s)[^\n]{0,40}?(?=[:\s]):?(?P<all>(?:[\s,;|*\"'`-]{1,12}+(?:[0-9]{1,2}[.)] )?"
    r"(?=[a-zA-Z -]{0,5}[0-9])[A-Za-z0-9]{3,10}+(?:-[A-Za-z0-9]{3,10}+){0,4}+(?![^\s,])){2,32}+)"
    r"|s?[^\n0-9.?!]{0,48}?(?<![A-Za-z0-9._-])(?P<value>[0-9]{3}[ -][0-9]{2,3}(?:-[0-9]{3})?"
    r"|[0-9]{3,8}|[0-9]{2}(?:[ -][0-9]{1,3}){2,3}|[A-Z]-[0-9]{5,6}|(?=[A-Z]*[0-9])[A-Z0-9]{5,8})"
    r"(?![A-Za-z0-9_-]|[.,][0-9])"
)
_NUMBERED: Final = regex(r"[A-Za-z_]+[0-9]{1,2}$|#|[0-9a-f]+$|.*[-_]|[A-Z]+[0-9]+$")
_IS_KEY: Final = regex(r"(?i)(?:[\w -]{0,20}(?:key|token|secret)|auth)[ \"':=]{1,4}")
_DIGEST: Final = regex(
    r"(?:sha-?[0-9]{1,3}|md5|digest|checksum|commit|etag|hash|rev|(?<![a-z])id)\W{1,4}$", re.I
)


def _near(text: str, names: Sequence[Name]) -> Iterator[Span]:
    """Yield what no language has near one of *names*: how strange it is depends on the word."""
    starts, ends = [name.start for name in names], [name.end for name in names]
    for name in names:
        if name.grade is Grade.CODE and (code := _CODES.match(text, name.end)):
            yield code.span(code.lastgroup or 0)
    for token in _TOKEN.finditer(text):
        value = token[0].rstrip("!?*-").lstrip("*-+")
        start = token.start() + token[0].index(value)
        end = start + len(value)
        look = _look(value)
        is_pair = _PAIR.search(text, max(0, start - 64), start)
        if look < Look.NUMBERED or (text[start - 1 : start] == "/" and not is_pair):
            continue  # a word, or a step of a path
        first = max(text.rfind("\n", max(0, start - 80), start), start - 80)
        last = text.find("\n", end, end + 40)
        before = names[bisect_left(ends, first) : bisect_left(ends, start + 1)]
        last = bisect_left(starts, last if last >= 0 else end + 40)
        after = names[bisect_left(starts, end) : last]
        direct = [name for name in before if is_pair or _AFTER.fullmatch(text, name.end, start)]
        is_spaced = is_pair and is_pair[0][-2:] == "/ "
        above = names[bisect_left(ends, start - 160) : bisect_left(ends, start + 1)]
        is_talk = bool(before or after) or "@" in text[max(0, start - 40) : start]
        is_talk |= any(name.grade >= Grade.SECRET for name in above)  # as in a table
        is_secret = look is Look.ALONE or (look is Look.MIXED and is_talk)
        is_odd = not _NUMBERED.match(value)
        least = Grade.SECRET if is_odd else Grade.PASSWORD
        is_secret |= any(name.grade >= least or is_spaced for name in direct)
        if look is Look.NUMBERED and has_upper(value) and has_lower(value):
            is_secret |= any(name.grade is Grade.PASSWORD for name in before)
        if end - start >= 16 and before:  # most ids are not secrets
            is_secret |= _IS_KEY.fullmatch(text, before[-1].start, start) is not None
        if is_secret and not _DIGEST.search(text, max(0, start - 40), start):
            yield start, end


_PLACEHOLDER: Final = regex(
    rf"(?:{'|'.join(WORDS['placeholder'])}|your[-_ ]?\w.*|(?:my|some|the|an?)[-_ ].*|<.*|\[.*"
    r"|\{[^}]*\}?|\$(?:[{(]|\w++(?!\$)).*|%[a-z_]+%?|%\(.*|[*x•.…_-]{2,}+|.*\.\.\.|.*…|secret-[0-9]+"
    r"|process\.env.*|os\.environ.*)[.,;:)\]}>]*",
    re.S,
)
_CODE: Final = regex(
    r"[A-Za-z_$@&*!][\w$]*+(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*+)*+(?:[(\[{<]|!?\()"
    r"|[A-Za-z_$][\w$]*+(?:(?:\.|::|->|\?\.)[A-Za-z_$]\w*+)++[,;)\]}]*+$|[\[({]|->|=>|\\n"
    r"|(?:[a-z][a-z0-9+.-]{1,12}+://|[~.]{0,2}/[\w.]|[A-Za-z]:\\)"
    r"|[\w./-]+\.[a-z]{1,5}(?::[0-9]++)*+$"
)
"""Calls, attributes, paths, addresses, files."""
_MEASURE: Final = regex(
    r"[v^~]?[0-9]++(?:[.,:/-][0-9]++)*+[a-z%]{0,3}$|[0-9]{4}-[0-9]{2}-[0-9]{2}T|[0-9]++-[a-z]++$"
    r"|(?i:sha|md|utf|base|oauth|http|hs|rs|es|aes|ed|x|p|v|ipv|python|py|s|ec|k|totp|argon|pbkdf"
    r"|pkcs|tls|ssl|h|u|int|float|uint|i|f)-?[0-9]++[a-z]?(?:-[a-z]{2,4})?$"
)
_WORDY: Final = regex(
    r"(?:[A-Za-z]?[a-z]++|[A-Z]++|[0-9]{1,4}+)"
    r"(?:[-_. /:](?:[A-Za-z]?[a-z]++|[A-Z]++|[0-9]{1,4}+))*+$"
)
_UUID: Final = regex(UUID)
_HEX: Final = regex(r"(?:0x)?(?:[0-9a-f]{6,}|[0-9A-F]{6,})$")
_MARK: Final = regex(r"[A-Za-z0-9][!#$^~&][A-Za-z0-9]")
_LEET: Final = regex("[a-z][0-9]{1,2}[a-z]")
_NAME: Final = regex(
    r"[a-z]+(?:[A-Z][a-z]+)*[0-9]?$|(?:[A-Z][a-z]+)+[0-9]?$|[A-Z0-9_]+$|[\w.-]+@|.*[aA]-[zZfF]"
    r"|.*\*\*|\w+[+*][0-9]+$"
)
"""What programs name their things, and patterns."""


def _look(value: str, *, quoted: bool = False) -> Look:
    """Return what *value* looks like; code can be a secret where it is *quoted*."""
    size, has_case = len(value), has_lower(value) and has_upper(value)
    if not value or _PLACEHOLDER.fullmatch(value.lower()):
        return Look.NOTHING
    if _MEASURE.match(value):
        return Look.MIXED if size >= 24 else Look.WORD
    is_code = not quoted and _CODE.match(value) is not None
    if not has_digit(value):
        is_data = value.isalpha() and size >= 12 and churn(value) >= 0.4
        is_mixed = is_data or (has_case and _MARK.search(value))
        return Look.NOTHING if is_code else Look.MIXED if is_mixed else Look.WORD
    if not (has_lower(value) or has_upper(value)):
        return Look.WORD
    if _HEX.match(value):
        is_key = size in {32, 64, 66, 96, 128}
        return Look.ALONE if is_key else Look.MIXED if size >= 16 else Look.NUMBERED
    is_wordy = _WORDY.match(value) or _UUID.search(value)
    is_chance = churn(value) >= (0.3 if "/" in value else 0.18) and not is_wordy
    if is_code and (not is_chance or re.search(r"[(\[]", value)):
        return Look.NOTHING
    if size >= 20 and not is_wordy:
        is_alone = has_case and churn(value) >= (0.33 if size >= 32 and "/" in value else 0.4)
        return Look.ALONE if is_alone else Look.MIXED if is_chance else Look.NUMBERED
    if _MARK.search(value) and not is_wordy:
        return Look.ALONE if has_case and "%" not in value else Look.MIXED
    if is_wordy or _NAME.match(value):
        return Look.NUMBERED
    if not has_case:
        is_alone = size >= 6 and value.isalnum() and _LEET.search(value) is not None
        return Look.ALONE if is_alone else Look.NUMBERED
    return Look.ALONE if not value.isalnum() or churn(value) >= 0.4 else Look.MIXED


def _can_be_assigned(value: str, grade: Grade, link: Link, *, in_call: bool) -> bool:
    """Return whether *value* can be what a word of *grade* announces; *in_call*: as an argument."""
    size, look, words = len(value), _look(value, quoted=link is Link.QUOTED), value.split()
    if grade is Grade.CODE:
        digits = re.sub("(?<=[0-9])[ -](?=[0-9])", "", value.rstrip("#*"))
        return (digits.isdecimal() and 3 <= size <= 8) or (size >= 5 and look >= Look.NUMBERED)
    if len(words) > 1:
        is_long = 2 < len(words) + (size > 15 or has_digit(value)) < 26
        is_sentence = any(word.strip(".,;:!?()").lower() in _SAYING for word in words)
        is_plain = all(word.islower() or has_digit(word) for word in words) and not is_sentence
        return grade is Grade.PASSWORD and link is Link.QUOTED and is_long and is_plain
    if grade is Grade.WEAK:
        return size >= 16 and look >= Look.MIXED
    if grade is Grade.SECRET:
        if look is Look.NUMBERED and _WORDY.match(value):
            return link in {Link.QUOTED, Link.LINE} and size >= 12
        return look >= Look.NUMBERED and size >= (6 if link >= Link.TIGHT else 8)
    if link is Link.QUOTED or look is Look.NOTHING:
        return size >= 3 and look > Look.NOTHING and not re.fullmatch("[A-Z]+(?:_[A-Z]+)+", value)
    if value.replace("_", "").isalpha():  # may be a variable as well
        if link is Link.TIGHT or in_call:
            return not in_call
        return link is Link.LINE and size >= 5 and (value[1:].islower() or value.isupper())
    return size >= (
        8 if in_call and link is Link.LOOSE and value.isalnum() else 3 + (link < Link.TIGHT)
    )


_SAYING: Final = frozenset(WORDS["saying"])
"""Words of labels and sentences, which no passphrase has."""
_PHRASE: Final = regex(
    r"(?<![\w.-])(?:(?:[0-9]{1,2}[.):]?[ \t]*+)?+[a-z]{3,8}+(?![\w'-])[\s,\"'|]{0,6}+){12,}+"
)
_CARD: Final = regex(
    r"(?<![\w.,/+-])(?:[3-6][0-9]{3}(?P<gap>[ -])(?:[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{1,7}"
    r"|[0-9]{6}(?P=gap)[0-9]{4,5})|[2-6][0-9]{12,18})(?![\w+-]|[.,][0-9])"
)


def _numbers(text: str) -> Iterator[Span]:
    """Yield cards by their check digits, and phrases of as many words as wallets have."""
    for card in _CARD.finditer(text):
        digits = [int(digit) for digit in card[0] if digit.isdigit()]
        is_size = 13 <= len(digits) <= 19 if card["gap"] else len(digits) in {14, 15, 16}
        doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
        if is_size and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1:
            yield card.span()
    for phrase in _PHRASE.finditer(text):
        words = re.findall("[a-z]+", phrase[0])
        is_named = re.search("(?i)seed|mnemonic|phrase|wallet|share", text[: phrase.end()][-200:])
        if (is_named or len(words) in {12, 15, 18, 21, 24}) and _SAYING.isdisjoint(words):
            yield phrase.span()
