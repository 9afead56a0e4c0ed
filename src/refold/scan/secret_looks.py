"""Secrets known by their own looks: random tokens, passwords, digests, cards, numbers of people.

Only for redaction: the detector that keeps keys word for word does not read this, because not
every random token is worth keeping.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from refold.scan.patterns import IBAN_SIZES, UUID, find_ibans
from refold.scan.runs import RunTest, Span, churn, has_digit, has_lower, has_upper
from refold.scan.secret_names import Grade, Name

_LONG_RUN: Final = RunTest(f"{string.ascii_letters}{string.digits}_+/-", 20)
_PIECE: Final = re.compile(r"[A-Za-z0-9_-]{20,}+")
_PADDING: Final = re.compile(r"={0,2}")
_HEX: Final = re.compile(r"(?:0[xX])?[0-9a-fA-F]+$|[0-9a-fA-F]{8}-[0-9a-fA-F-]+$")
_DIGEST_NAME: Final = re.compile(
    r"(?:pack|diff|sha[0-9]*|md5|commit|rev|blob|tree|layer|image|cache|chunk|hash|index|run|job"
    r"|build|tmp|temp|test|trace|span|req|request|msg|call|toolu|resp|event|session)[-_]",
    re.I,
)
_PREFIXED_HEX: Final = re.compile(
    r"[A-Za-z]{1,12}[-_][0-9a-f]{32,128}$|[0-9a-f]{32}-[a-z]{2}[0-9]{1,2}$"
)
_CLUSTER: Final = re.compile("[bcdfghjklmnpqrstvwxz]{5}")
_MIN_DATA: Final = 32
"""Base64 with `/` looks different from a path only if it is this long."""
_MIN_CHURN: Final = 0.4
"""Of three kinds of characters: random ones change at 0.62, and the recorded conversations have
names in camel case up to 0.36 and no other text above."""
_MIN_DATA_CHURN: Final = 0.33
"""The same, of so many that no name has as many."""
_MIN_CHURN_OF_TWO: Final = 0.2
"""Of letters of one case and digits: random ones change at 0.3 to 0.4.
Half of that is enough for unpronounceable letters."""

_DIGEST: Final = re.compile(
    r"(?<![A-Za-z0-9_+-])(?P<value>(?:0x)?(?:[0-9a-f]{32,512}+|[0-9A-F]{32,512}+)"
    rf"|(?P<prefix>[A-Za-z]{{2,12}}-)?(?P<id>{UUID}))"
    r"(?![A-Za-z0-9_-])"
)
_KEY_SIZES: Final = (32, 64, 96, 128)
"""Of hexadecimal digits in keys; 40 are the name of a commit."""
_IS_DIGEST: Final = re.compile(
    r"(?:sha-?[0-9]{1,3}|md5|digest|checksum|commit|etag|hash|revision|tree|blob|parent|index"
    r"|(?:trace|span|request|message|run|job|user|account|order|tenant|client|key|u?u)[ _-]?id)"
    r"[\"']?[ \t]*+[:= @-]{1,2}[ \t]*+[\"']?$",
    re.I,
)
"""What stands before a digest or an id that is no secret."""
_BYTES: Final = re.compile(
    r"[\[({](?P<value>(?:[ \t]*+(?:0x[0-9a-fA-F]{1,2}|[0-9]{1,3})[ \t]*+,){15,128}+[ \t]*+\w{1,4}+)"
)
"""A key as the numbers of its bytes."""
_HEX_RUN: Final = RunTest("0123456789abcdefABCDEF-", 32)
_FAR: Final = 100
_NEAR: Final = 40
"""How far from a digest its word stands in a line: one that is sure, one that is not. Guesses."""
_KEY: Final = re.compile("key|auth", re.I)
_CALL: Final = re.compile(
    r"(?:\b[A-Z]\w{1,40}|\b(?:init|initialize|start|setup|configure|login|auth|connect|identify"
    r"|setKey|set_key|algoliasearch|\w{0,20}[cC]lient))\([ \t]*+"
    r"(?:[\"'][^\"'\n]{1,80}+[\"'][ \t]*+,[ \t]*+)?[\"']$"
)
_FLAG: Final = re.compile(r"[ \t](?:-[tkpa]|auth|login|authenticate|--?\w{0,12}key)[ \t=]++[\"']?$")
_HASHES: Final = re.compile(r"sha|md5|hash|digest|assert|commit|uuid|equal|expect", re.I)


def find_random_tokens(text: str, plain: bytes) -> Iterator[Span]:
    """Yield the runs that look like nothing but chance; *plain* is the text as bytes."""
    for start, end in _LONG_RUN.spans(plain):
        run, before = text[start:end], text[start - 1 : start]
        is_data = end - start >= _MIN_DATA and ("+" in run or "/" in run[1:])
        if is_data and run[0] != "/" and before not in {"/", ".", ":"} and _is_chance(run):
            yield _padded(text, start, end)
            continue
        for piece in _PIECE.finditer(text, start, end):
            is_step = text[piece.start() - 1 : piece.start()] == "/"
            if _is_chance(piece[0]) and not (is_step and piece[0].islower()):
                yield _padded(text, *piece.span())


def _padded(text: str, start: int, end: int) -> Span:
    padding = _PADDING.match(text, end)
    return start, end if padding is None else padding.end()


def _is_chance(token: str) -> bool:
    if not has_digit(token) or _HEX.match(token) or _DIGEST_NAME.match(token):
        return False
    if _PREFIXED_HEX.match(token):
        return True
    if has_lower(token) and has_upper(token):
        is_data = len(token) >= _MIN_DATA and token.find("_") < 0 and token.find("-") < 0
        return churn(token) >= (_MIN_DATA_CHURN if is_data else _MIN_CHURN)
    least = _MIN_CHURN_OF_TWO / 2 if _CLUSTER.search(token.lower()) else _MIN_CHURN_OF_TWO
    return token.isalnum() and churn(token) >= least


def find_digests(text: str, plain: bytes, names: Sequence[Name]) -> Iterator[Span]:
    """Yield keys in hexadecimal digits, and ids beside one of *names* or given to a client.

    *plain* is the text as bytes.
    """
    starts = [name.start for name in names]
    for found in _DIGEST.finditer(text) if _HEX_RUN.holds(plain) else ():
        start, end = found.span("value")
        before = text[max(0, start - _FAR) : start]
        if _IS_DIGEST.search(before) or _DIGEST_NAME.match(found["prefix"] or ""):
            continue
        is_key = bool(found["prefix"]) if found["id"] else end - start in _KEY_SIZES
        is_given = (_CALL.search(before) or _FLAG.search(before)) and not _HASHES.search(before)
        if is_key or is_given or _is_announced(text, start, end, names, starts):
            yield start, end
    for found in _BYTES.finditer(text) if names else ():
        start, end = found.span("value")
        if _is_announced(text, start, end, names, starts):
            yield start, end


def _is_announced(
    text: str, start: int, end: int, names: Sequence[Name], starts: Sequence[int]
) -> bool:
    first = max(text.rfind("\n", max(0, start - _FAR), start) + 1, start - _FAR)
    last = text.find("\n", end, end + _FAR)
    last = last if last >= 0 else end + _FAR
    near = names[bisect_left(starts, first) : bisect_left(starts, last)]
    if any(name.grade >= Grade.SECRET for name in near):
        return True
    if "-" in text[start:end]:  # most ids are no secrets
        return any(text[name.end : start] == " " and _KEY.match(text, name.start) for name in near)
    return any(0 <= start - name.end < _NEAR for name in near)


_TOKEN: Final = re.compile(
    r"(?<![^\s\"'`:=,;/({\[>])(?=[A-Za-z_!#$^&?~@%+-]*+[0-9])"
    r"[A-Za-z0-9_!#$^&?~@%+-]{6,40}+(?![^\s\"'`:=,;.!?)}\]<\\|])"
)
_KINDS: Final = bytes(
    ord("0") if byte in b"0123456789"
    else ord("1") if byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$^&~"
    else ord(" ")
    for byte in range(256)
)  # fmt: skip
"""Maps the characters of which such a word has two kinds: digits to 0, capitals and marks to 1."""
_OTHERS: Final = b"abcdefghijklmnopqrstuvwxyz_?@%+-"
"""Its other characters: without them the two kinds stand side by side."""
_INNER_MARK: Final = re.compile(r"[A-Za-z0-9][!#$^~]{1,2}[A-Za-z0-9]|[A-Za-z0-9]&[A-Za-z0-9]")
_TALK: Final = re.compile(
    r"log(?:ged|ging)?[ _-]?(?:in|on)\b|sign(?:ed|ing)?[ _-]?(?:in|on)\b|credential|\bcreds\b"
    r"|pass[cop-rw]|pass\b|\bpswd|pwd|pw\b|auth(?:enticate|user)?\b|unlock|identify|\bkeychain"
    r"|/r?p\b|add-mask|wlan|wi-?fi|\bssid|zugang|anmeld|schl[uü]ssel|kennw|kenncode|benutzer"
    r"|\broot:|\badmin[:/]|\buser(?:name)?[:=, ]|smtp|imap|@[\w-]{1,40}\.[a-z]{2,10}:",
    re.I,
)
"""What people talk about when they hand over a password."""
_HANDED_OVER: Final = re.compile(r"(?:\bpass|pwd?|passwd|password)\b[^\n(){}=.,]{0,16}$", re.I)
_BEFORE: Final = 48
_AFTER: Final = 24
"""How far around a word there is talk of accounts. Guesses."""
_NAME: Final = re.compile(
    r"[a-z]+(?:[A-Z][a-z]+)*[0-9]?$|(?:[A-Z][a-z]+)+[0-9]?$|[A-Z0-9_]+$|[\w.-]+@"
)
"""Names in code (`testSession1`), and addresses."""


def find_password_like(text: str, plain: bytes) -> Iterator[Span]:
    """Yield words of letters, digits and marks that no language and no program has.

    *plain* is the text as bytes: where no word has a digit and a capital or a mark, there is none
    of them.
    """
    kinds = plain.translate(_KINDS, _OTHERS)
    if kinds.find(b"01") < 0 and kinds.find(b"10") < 0:
        return
    for found in _TOKEN.finditer(text):
        word = found[0]
        if not has_digit(word) or not has_lower(word):
            continue
        if "&" in word and text.startswith("=", found.end()):
            continue  # the next parameter of an address begins in it
        start, end = found.start(), found.start() + len(word.rstrip("!?"))
        has_mark = _INNER_MARK.search(word) is not None
        has_capital = has_upper(word)
        is_plain = has_mark and has_capital and "%" not in word
        if is_plain or (
            (has_capital or has_mark)
            and _is_talk(text, start, end, is_name=_NAME.match(word) is not None)
        ):
            yield start, end


def _is_talk(text: str, start: int, end: int, *, is_name: bool) -> bool:
    """Return whether the line is about accounts, near the word; of a name, about its password."""
    first = max(text.rfind("\n", max(0, start - _BEFORE), start) + 1, start - _BEFORE, 0)
    if is_name:
        return _HANDED_OVER.search(text, first, start) is not None
    last = text.find("\n", end, end + _AFTER)
    last = last if last >= 0 else end + _AFTER
    return _TALK.search(text, first, start) is not None or _TALK.search(text, end, last) is not None


_CARD: Final = re.compile(
    r"(?<![\w.,/+-])(?P<card>[3-6][0-9]{3}(?P<gap>[ -])"
    r"(?:[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{1,7}|[0-9]{6}(?P=gap)[0-9]{4,5})"
    r"|[2-6][0-9]{12,18})(?![\w+-]|[.,][0-9]|/(?![01][0-9]/))"
    r"(?:[/|:][01][0-9][/|][0-9]{2,4}[/|:][0-9]{3,4}(?![0-9]))?"
)
"""The number, and when it ends and its code if they follow without a word."""
_CARD_SHAPES: Final = (b"0000 0000", b"0000-0000", b"0" * 13)
"""How the number of a card begins, or all of it, where every digit is 0."""
_CARD_SIZES: Final = range(13, 20)
_SOCIAL: Final = re.compile(
    r"(?<![\w.-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-]|\.[0-9])"
)
_PAPERS: Final = re.compile(
    r"(?<![a-z])(?P<name>ssn|social security|sozialversicherung|passport|reisepass|personalausweis"
    r"|national insurance|nino|tax(?:payer)? id|tin|itin|ein|steuer|cpf|cnpj|nif|dni|nie|nir|pesel"
    r"|bsn|codice fiscale|curp|rfc|aadha+r|driver'?s licen[cs]e|f[uü]hrerschein|bank account"
    r"|account (?:number|no|nr)|acct?|bsb|clabe|nhs|personnummer|c[eé]dula|konto(?:nummer)?"
    r"|routing|sort code|bic|swift|numéro de sécurité sociale|seguridad social|身份证|護照|护照"
    r"|マイナンバー|주민등록|снилс|инн|паспорт)"
    r"(?:[- _]?(?:number|num|nummer|no|nr|id|código|号码|号|番号|번호))?[^\w\n]{0,3}"
    r"(?:(?:is|ist|est|es|number|no|номер|:|=|was)\W{1,3}){0,2}(?P<letters>[a-z]{0,8} ?)$"
)
"""The names of personal numbers, up to the first digit."""
_PAPER: Final = re.compile(r"[0-9](?:[ ./-]?[0-9A-Z]){5,24}+")
_DATE: Final = re.compile(
    r"(?:19|20)[0-9]{2}[-/.][01]?[0-9](?![0-9])|[0-3]?[0-9][-/.][01]?[0-9][-/.]"
)
_MIN_DIGITS: Final = 6
"""Of a number that belongs to one person; no paper has fewer."""
_ONLY_DIGITS: Final = bytes(ord("0") if chr(byte).isdecimal() else byte for byte in range(256))
_IN_PAPERS: Final = f"{string.ascii_uppercase} ./-".encode()
"""What may stand between the digits of cards and papers, which is where they are looked for."""
_LONG: Final = RunTest(string.digits + string.ascii_uppercase, min(IBAN_SIZES.values()), b" -")
"""Bank accounts have so many digits and capitals, however they are grouped."""
_BEFORE_PAPER: Final = 64
"""How many characters before a number its name may begin. A guess."""


def find_numbers(text: str, lower: str, plain: bytes, outline: bytes) -> Iterator[Span]:
    """Yield cards and bank accounts by their check digits, and numbers of papers by their names.

    *plain* is the text as bytes, and in its *outline*, see `TextView`, all digits are 0: most
    texts are ruled out by these.
    """
    if b"0" not in outline:
        return
    if _LONG.holds(plain):
        yield from find_ibans(text)
    if plain.translate(_ONLY_DIGITS, _IN_PAPERS).find(b"0" * _MIN_DIGITS) < 0:
        return
    if any(shape in outline for shape in _CARD_SHAPES):
        yield from _cards(text)
    if b"000-00-0000" in outline:
        for found in _SOCIAL.finditer(text):
            yield found.span()
    yield from _papers(text, lower)


def _papers(text: str, lower: str) -> Iterator[Span]:
    for found in _PAPER.finditer(text):
        start, end = found.span()
        if sum(map(str.isdigit, found[0])) < _MIN_DIGITS or _DATE.match(found[0]):
            continue
        name = _PAPERS.search(lower, max(0, start - _BEFORE_PAPER), start)
        if name is not None:
            yield name.start("letters"), end


def _cards(text: str) -> Iterator[Span]:
    for found in _CARD.finditer(text):
        digits = [int(digit) for digit in found["card"] if digit.isdigit()]
        if len(digits) in _CARD_SIZES and (found["gap"] or _is_ungrouped(digits)):
            doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
            if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1:
                yield found.span()


def _is_ungrouped(digits: list[int]) -> bool:
    """Return whether so many digits, which begin like this, are a card without blanks."""
    return len(digits) in (15, 16) or (len(digits) == 14 and digits[0] == 3)
