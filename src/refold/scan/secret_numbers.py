"""Numbers that belong to one person: payment cards, bank accounts, papers of identity."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final

from refold.scan.patterns import find_ibans
from refold.scan.runs import RunTest, Span

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
_LONG: Final = RunTest(string.digits + string.ascii_uppercase, _MIN_DIGITS, b" ./-")
"""Bank accounts and papers have so many digits and capitals, however they are grouped."""
_BEFORE: Final = 64
"""How far before the number its name may begin. A guess."""


def find_numbers(text: str, lower: str, plain: bytes, outline: bytes) -> Iterator[Span]:
    """Yield cards and bank accounts by their check digits, and numbers of papers by their names.

    *plain* is the text as bytes, and in its *outline*, see `TextView`, all digits are 0: most
    texts are ruled out by these.
    """
    if b"0" not in outline or not _LONG.holds(plain):
        return
    if any(shape in outline for shape in _CARD_SHAPES):
        yield from _cards(text)
    yield from find_ibans(text)
    if b"000-00-0000" in outline:
        for found in _SOCIAL.finditer(text):
            yield found.span()
    yield from _papers(text, lower)


def _papers(text: str, lower: str) -> Iterator[Span]:
    for found in _PAPER.finditer(text):
        start, end = found.span()
        if sum(map(str.isdigit, found[0])) < _MIN_DIGITS or _DATE.match(found[0]):
            continue
        name = _PAPERS.search(lower, max(0, start - _BEFORE), start)
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
