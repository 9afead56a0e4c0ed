"""Secrets known by the word before them: `password=…`, `--token …`, "das Passwort lautet …".

Each word is looked at once, and after each only so many characters, so the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from refold.scan.runs import Span, has_digit
from refold.scan.secret_names import Grade, Name
from refold.scan.secret_values import Link, can_be_secret

_MAX_VALUE: Final = 256
"""What is longer is looked at only so far; if that is a secret, so is the rest of the run."""
_MAX_GAP: Final = 72
"""How far behind its word a secret of a sentence may end to begin."""
_MAX_WORDS: Final = 7
"""Between a word such as "password" and its value stand a few others at most. A guess."""
_MIN_WRAPPED: Final = 32
"""Shorter values are not broken over two lines. A guess."""

_QUOTE: Final = r"(?:&quot;|&#3[49];|\\{1,2}u002[27]|%2[27])"
"""Quotes as other languages spell them."""
_CLOSE: Final = rf"(?:[\\\"'`*\])»”」』]{{0,8}}+{_QUOTE}?|{_QUOTE})"
_ASSIGN: Final = re.compile(
    rf"{_CLOSE}(?P<before>[ \t]*+)(?::=|=>|->|\?=|[:=：＝>](?!=)|%3[ADad])"
    r"(?P<after>(?:[ \t]|%20)*+)"
)
_NEXT_LINE: Final = re.compile(
    rf"{_CLOSE}[ \t]*+[:=：＝][ \t]*+(?:[>|][+-]?[ \t]*+)?(?:\\n|\r?\n)[ \t>*-]*+"
)
_PAIR: Final = re.compile(
    rf"{_CLOSE}[\s,;:{{\[-]{{0,40}}+"
    r"(?:[\\\"']{0,3}(?:type|description|sensitive|enabled|label|secure)[\\\"']{0,3}[ \t]*+[:=]"
    r"[^\n,{}]{0,120}+[,\n]\s{0,20}+){0,3}"
    r"[\\\"']{0,3}(?:default_?)?(?:value|default)[\\\"']{0,3}[ \t]*+[:=][ \t]*+",
    re.I,
)
_FORM: Final = re.compile(r"[\"']?(?:\r?\n|\\r\\n){2}")
_IN_FORM: Final = re.compile(r"form-data; name=[\"']?[\w.-]*$")
_COMMA: Final = re.compile(r"\\{0,2}[\"'`]\)?[ \t]*+,[ \t\r\n]*+(?=\\{0,2}[\"'`])")
_ELEMENT: Final = re.compile(
    r"(?:[ \t]++[\w:.-]{1,40}+=[\"'][^\"'<>\n]{0,120}+[\"']){1,4}+>[ \t\r\n]*+"
    r"|(?:</[\w:.-]{1,40}+)?>\s*+<[\w:.-]{1,40}+>"
)
_CELL: Final = re.compile(rf"{_CLOSE}[ \t]*+[|│┃\t][ \t]*+")
_FLAG: Final = re.compile(rf"{_CLOSE},?[ \t]++")
_QUOTED_NEXT: Final = re.compile(r"[ \t]++(?=[\"'])")
_DIRECTIVE: Final = re.compile(
    r"(?:#[ \t]*+define|\b(?:set|setenv|passenv|env|let|fastcgi_param|proxy_set_header))"
    r"[ \t]++[\w.$:-]{0,40}$",
    re.I,
)
"""What gives a value to a name without a sign between them."""
_SETENV: Final = re.compile(r"\b(?:setenv|set[ \t]++-[a-z]{1,3})[ \t]++[\w.-]{0,40}$", re.I)
"""The same in shells, where a value needs no quotes."""
_SETTER: Final = re.compile(
    r"(?:set|put|store|add|append|header|prop|env|define|param|field)\w{0,16}\([ \t]*+"
    r"[\"'][\w.-]{0,40}$",
    re.I,
)
"""A function that takes a name and its value."""
_USER_BEFORE: Final = re.compile(
    r"\b(?:user(?:name)?|login|e-?mail|account|benutzer|usuario|utilisateur)[ \t]*+[:=]"
    r"[^\n]{1,60}\n?[ \t,;]*+$",
    re.I,
)
_IS_FLAG: Final = re.compile(r"(?<![\w-])--?(?:[a-z0-9]{1,16}-){0,3}$")
_SCHEME: Final = re.compile(
    r"(?:<!\[CDATA\[|[$<]\((?:echo|printf)[ \t]+)?"
    r"(?:!{1,2}[a-z]+[ \t]+|convertto-securestring[ \t]+(?:-string[ \t]+)?|str[ \t]*=[ \t]*)?"
    r"(?:(?:basic|bearer|digest|token|negotiate|apikey|ssws|plain)[ \t:]+)?"
    rf"(?:[bfru]{{1,2}}(?=[\"'])|{_QUOTE})?",
    re.I,
)
_VALUE: Final = re.compile(
    rf"\\{{1,3}}\"(?P<escaped>(?:(?!\\{{1,4}}+\")[^\"\n]){{1,{_MAX_VALUE}}}+)"
    rf"|\\{{1,3}}'(?P<slashed>(?:(?!\\{{1,4}}+')[^'\n]){{1,{_MAX_VALUE}}}+)"
    rf"|\"(?P<double>(?:[^\"\\\n]|\\.){{1,{_MAX_VALUE}}}+)"
    rf"|'(?P<single>(?:[^'\\\n]|\\.){{1,{_MAX_VALUE}}}+)"
    rf"|`(?P<ticks>[^`\n]{{1,{_MAX_VALUE}}}+)"
    rf"|[“„«「『](?P<marks>[^“”«»「」『』\n]{{1,{_MAX_VALUE}}}+)"
    rf"|(?P<bare>(?:(?!</|\\[nrt]|{_QUOTE}|%26|[&;,][A-Za-z_][A-Za-z0-9_.-]*+=)[^\s\"'`|│┃、。，；）】」』”»])"
    rf"{{1,{_MAX_VALUE}}}+)"
)
_LISTS: Final = (
    (_PAIR.match, Link.TIGHT),
    (_ELEMENT.match, Link.TIGHT),
    (_COMMA.match, Link.SAID),
    (_CELL.match, Link.LOOSE),
)
_REST: Final = re.compile(r"[^\s\"'`]*+")
_TRAILING: Final = ".,;:!?)]}>\\"
_CLOSING: Final = {")": "(", "]": "[", "}": "{"}
_AFTER_ARGUMENT: Final = frozenset(",);}\"'`")
_LINE_END: Final = re.compile(r"[ \t]*+(?:\r|\n|\\n|$|#|//|\|)")
_SAID: Final = re.compile(
    r"\s*+(?:\?\s*+it'?s(?=\W)|(?:is|was|are|to|as|now|still|called|reads|lautet|ist|heißt|war|sind|est|était|sont|es|"
    r"era|son|é|foi|são|eh|это|був|был|стал|теперь|равен|è|jest|to|är|er|je|on|là|este|adalah|hai|είναι|"
    r"ay|ná|ass|هي|هو|הוא|היא|है|คือ|is:)(?=\W)|[—–=:：＝-]|は|が|是|为|為|叫|等于|은|는|：)[\s:：「“«\"'`*]*+",
    re.I,
)
_CHANGED: Final = re.compile(
    r"[\"'`]?[ \t]*+(?:->|=>|→|to|auf|zu|in|by|with|a|à|par|por|na|на)[ \t]++(?=\S)"
)
_SAID_QUOTE: Final = re.compile(
    r"[\s:]*+(?:[^\W\d_]{1,10}[\s:]++)?[\"“„«「]\s?(?P<value>[^\"“”„«»「」\n]{6,120}+)[\"“”»」]"
)
_DIGITS: Final = re.compile(
    r"[^\n0-9.?!]{1,48}?(?P<value>[0-9]{3}[ -][0-9]{3}|[0-9]{2}-[0-9]{2}-[0-9]{2})"
    r"(?![\w-]|[.,][0-9])"
)
"""A code in two or three groups."""
_LEET: Final = re.compile(r" (?P<value>[a-z]+[0-9]+[a-z][a-z0-9]{2,20})(?![\w.(-])", re.I)
_COMPARED: Final = re.compile(rf"{_CLOSE}[ \t]*+[=!<>]=")
_WORD: Final = re.compile(r"[!-\[\]-~£€\u00c0-\u024f\u0400-\u04ff]+")
_BEFORE: Final = re.compile(
    r"(?<!\S)(?P<value>[!-~]{6,60})[ \t]++"
    r"(?:is|was|as|ist|war|als|est|comme|es|como|é|как|—)[ \t]++"
    r"(?:[^\W\d_]{1,12}[ \t]++){0,3}$"
)
_SENTENCE_END: Final = re.compile(r"[.!?][\"')]?(?:\s|$)|[。！？\n]")
_EDGES: Final = "\"'`“”„«»「」『』()[]{}<>,;:*"
_WRAP: Final = re.compile(
    r"[\"']?[ \t]*+[\\+]?(?:\r?\n|\\n)[ \t]*+[\"']?"
    r"(?P<more>[A-Za-z0-9+/=_-]{16,}+)(?![^\s\"',;\\)])"
)


def find_named(text: str, names: Iterable[Name]) -> Iterator[Span]:
    """Yield the values that *names*, words of *text*, announce."""
    done = 0
    for name in names:
        if name.start < done:
            continue  # part of a secret
        span = _find_after(text, name)
        while span is not None:
            done = span[1]
            yield span
            span = _next_value(text, done, name)


def _find_after(text: str, name: Name) -> Span | None:
    if name.is_common:
        return _assigned(text, name) or _beside(text, name)
    return (
        _assigned(text, name)
        or _listed(text, name)
        or _said(text, name)
        or _said_before(text, name)
    )


def _beside(text: str, name: Name) -> Span | None:
    """Find what stands right behind a common word if digits stand between its letters."""
    found = _LEET.match(text, name.end)
    return None if found is None else found.span("value")


def _next_value(text: str, end: int, name: Name) -> Span | None:
    """Return the value that takes the place of the one that ends at *end*."""
    change = _CHANGED.match(text, end)
    if change is None or name.grade < Grade.SECRET:
        return None
    return _value_at(text, change.end(), name, Link.SAID)


def _assigned(text: str, name: Name) -> Span | None:
    """Find what is assigned to *name*: behind a sign, on the next line, behind a flag."""
    sign = _ASSIGN.match(text, name.end)
    if sign is not None:
        is_tight = not sign["before"] and not sign["after"]
        is_vague = name.is_common and not _stands_before(_USER_BEFORE, text, name)
        loose = Link.SAID if is_vague else Link.LOOSE
        span = _value_at(text, sign.end(), name, Link.TIGHT if is_tight else loose)
        if span is not None:
            return span
        below = _NEXT_LINE.match(text, name.end)
        return None if below is None else _value_at(text, below.end(), name, Link.LINE, alone=True)
    flag = _FLAG.match(text, name.end)
    before = text[max(0, name.start - 56) : name.start]
    if flag is not None and _IS_FLAG.search(before.lower()):
        return _value_at(text, flag.end(), name, Link.TIGHT)
    if flag is not None and _SETENV.search(before):
        return _value_at(text, flag.end(), name, Link.TIGHT, alone=True)
    quoted = _QUOTED_NEXT.match(text, name.end)
    if quoted is not None and _stands_before(_DIRECTIVE, text, name):
        return _value_at(text, quoted.end(), name, Link.TIGHT)
    return None


def _stands_before(pattern: re.Pattern[str], text: str, name: Name) -> bool:
    return pattern.search(text, max(0, name.start - _MAX_GAP), name.start) is not None


def _listed(text: str, name: Name) -> Span | None:
    """Find the value of a pair: in a table, in a list of arguments, in `name=… value=…`."""
    if _IN_FORM.search(text, max(0, name.start - 40), name.start):
        field = _FORM.match(text, name.end)
        if field is not None:
            return _value_at(text, field.end(), name, Link.LINE, alone=True)
    for match, link in _LISTS:
        found = match(text, name.end)
        if found is not None:
            is_set = link is Link.SAID and _stands_before(_SETTER, text, name)
            return _value_at(text, found.end(), name, Link.TIGHT if is_set else link)
    return None


def _value_at(text: str, start: int, name: Name, link: Link, *, alone: bool = False) -> Span | None:
    """Return the value that begins at *start*, if it can be a secret; *alone* if on its line."""
    scheme = _SCHEME.match(text, start)
    found = _VALUE.match(text, start if scheme is None else scheme.end())
    if found is None:
        return None
    kind = found.lastgroup or "bare"
    start, end = found.span(kind)
    if kind == "bare":
        return _bare(text, (start, end), name, link, alone=alone)
    if link is not Link.SAID:
        link = Link.QUOTED
    if not can_be_secret(text[start:end], name.grade, link):
        return None
    return start, _whole(text, start, end)


def _bare(text: str, span: Span, name: Name, link: Link, *, alone: bool) -> Span | None:
    start, end = span
    value = _without_marks(text[start:end])
    tail = text[start + len(value) : end]
    is_last = _LINE_END.match(text, end) is not None
    if alone and not is_last:
        return None
    if link is Link.LOOSE and is_last and not tail:
        link = Link.LINE
    in_call = (tail[:1] or text[end : end + 1]) in _AFTER_ARGUMENT
    if not can_be_secret(value, name.grade, link, in_call=in_call):
        return None
    return start, _whole(text, start, start + len(value))


def _without_marks(value: str) -> str:
    """Return *value* without the marks of the text around it, but with brackets that it opens."""
    bare = value.rstrip(_TRAILING)
    closing = _CLOSING.get(value[len(bare) : len(bare) + 1])
    return bare + value[len(bare)] if closing is not None and closing in bare else bare


def _whole(text: str, start: int, end: int) -> int:
    """Return where a secret ends that is longer than what was looked at, or than a line."""
    if end - start >= _MAX_VALUE:
        rest = _REST.match(text, end)
        end = end if rest is None else rest.end()
    more = _WRAP.match(text, end) if end - start >= _MIN_WRAPPED else None
    while more is not None and any(map(str.isdigit, more["more"])):
        end = more.end()
        more = _WRAP.match(text, end)
    return end


def _said(text: str, name: Name) -> Span | None:
    """Find the secret of a sentence: digits, a quotation, or a word that looks like one."""
    if name.grade is Grade.WEAK or _COMPARED.match(text, name.end):
        return None
    digits = _DIGITS.match(text, name.end) if name.grade is Grade.CODE else None
    if digits is not None:
        return digits.span("value")
    return _said_in_quotes(text, name) or _said_in_a_word(text, name)


def _said_in_quotes(text: str, name: Name) -> Span | None:
    said = _SAID_QUOTE.match(text, name.end)
    if said is None or not can_be_secret(said["value"], name.grade, Link.SAID):
        return None
    return said.span("value")


def _said_in_a_word(text: str, name: Name) -> Span | None:
    """Find the first word behind *name* that looks like a secret."""
    start, stop = name.end, min(len(text), name.end + _MAX_GAP)
    link = Link.NEAR if name.grade is Grade.SECRET else Link.SAID
    said = _SAID.match(text, start)
    if said is not None:
        start, link = said.end(), Link.SAID
    for found in islice(_WORD.finditer(text, start, stop + _MAX_VALUE), _MAX_WORDS):
        if found.start() >= stop or _SENTENCE_END.search(text, start, found.start() + 1):
            return None
        begin, value = _trimmed(found)
        # In a sentence of another script, Latin letters with digits stand out as in no other.
        is_apart = not text[name.start].isascii() and value.isascii() and has_digit(value)
        if value and can_be_secret(value, name.grade, Link.SAID if is_apart else link):
            return begin, begin + len(value)
        if found[0][-1] in ".!?":
            return None
        is_link = found[0][-1] in ":=" or _SAID.fullmatch(f" {found[0]} ") is not None
        link = Link.SAID if is_link else Link.NEAR
    return None


def _said_before(text: str, name: Name) -> Span | None:
    """Find the secret of "… is the password" and "use … as password"."""
    if name.grade < Grade.SECRET:
        return None
    found = _BEFORE.search(text, max(0, name.start - _MAX_GAP), name.start)
    if found is None:
        return None
    value = found["value"].strip(_EDGES)
    if not can_be_secret(value, name.grade, Link.SAID):
        return None
    start = text.index(value, found.start("value"))
    return start, start + len(value)


def _trimmed(found: re.Match[str]) -> tuple[int, str]:
    """Return a word without the marks around it, and where it begins then."""
    word = found[0][:_MAX_VALUE]
    left = word.lstrip(_EDGES)
    return found.start() + len(word) - len(left), left.rstrip(_EDGES + ".!?")
