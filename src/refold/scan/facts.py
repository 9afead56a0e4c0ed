"""Values, quotations, error lines and negations: what a paraphrase must not lose or invent.

Every pattern can start only at the beginning of a run and never gives back what it has read, so
the time is linear in the text whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.lazy import regex
from refold.scan.patterns import (
    ADDRESS,
    QUOTED,
    UUID,
    after_extension,
    find_ibans,
    trim_url,
)
from refold.scan.runs import Span

_ZEROS: Final = (
    "0\u0660\u06f0\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0de6\u0e50\u0ed0\u0f20"
    "\u1040\u1090\u17e0\u1810\u1946\u19d0\u1a80\u1a90\u1b50\u1bb0\u1c40\u1c50\ua620\ua8d0\ua900\ua9d0"
    "\ua9f0\uaa50\uabf0\uff10\U0001d7ce\U0001d7d8\U0001d7e2\U0001d7ec\U0001d7f6"
)
DIGIT: Final = "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in _ZEROS)
"""The digits of every script in use, for a character class."""
_LETTER: Final = "A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f"
_W: Final = f"{_LETTER}{DIGIT}_"
_STEP: Final = rf"(?:[{_W}@%+~=-]++|\.++(?=[{_W}@%+~=/\\-]))++"  # a last dot ends the sentence
_NO_STEP: Final = rf"(?<![{_W}./~@%+=\\-])"

MONTH: Final = (
    r"(?:(?i:jan(?:uary|uar|vier|eiro)?|enero|gennaio|feb(?:ruary|ruar|rero|braio)?|février|"
    r"fevereiro|märz|mars|marzo|março|apr(?:il|ile)?|abril|avril|june?|juni|juin|junio|junho|"
    r"giugno|july?|juli|juillet|julio|julho|luglio|aug(?:ust)?|août|agosto|sep(?:t(?:ember|embre|"
    r"iembre)?)?|settembre|setembro|oct(?:ober|obre|ubre)?|okt(?:ober)?|ottobre|outubro|"
    r"nov(?:ember|embre|iembre|embro)?|dec(?:ember)?|dez(?:ember|embro)?|décembre|diciembre|"
    r"dicembre|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)"
    rf"|Mar(?:ch)?|May|Mai|mai|mayo|maio|maggio)(?![{_W}])\.?+"
)
UNITS: Final = {
    alias: names.split()[0]
    for names in (
        "ms msec msecs millisecond milliseconds millisekunde millisekunden milliseconde "
        "millisecondes "
        "milisegundo milisegundos 毫秒 ミリ秒|s sec secs second seconds sekunde sekunden seconde "
        "secondes segundo segundos|min mins minute minutes minuten minuto minutos|h hr hrs hour "
        "hours stunde stunden heure heures hora horas|d day days tag tage tagen jour jours día "
        "días dia dias|week weeks wk woche wochen semaine semaines semana semanas|month months "
        "monat "
        "monate monaten mois mes meses|year years yr yrs jahr jahre jahren ans année années año "
        "años|µs μs us|ns|% ％ percent prozent|‰|b byte bytes|kb|mb|gb|tb|pb|kib|mib|gib|tib|kbps|"
        "mbps|gbps|bit bits|"
        "mm|cm|m meter meters metre metres metern mètre mètres metro metros|"
        "km kilometer kilometers kilometre kilometres kilometern kilomètres kilómetros|mi|ft|"
        "kg kilo kilos kilogram kilograms|g|mg|lb lbs|l|ml|hz|khz|mhz|ghz|w|kw|kwh|v|mv|"
        "°c ℃|°f ℉|° degree degrees grad degrés grados|"
        "rpm|rps|qps|fps|px|pt|dpi|pp|bps|x × times fois veces mal|usd $ us$ dollar dollars dólar "
        "dólares|eur € euro euros|gbp £ pounds pfund libras|jpy ¥ yen yenes|inr ₹|rub ₽|krw ₩|"
        "try ₺|chf|cny rmb|st nd rd th º ª|"
        "k|million mln millones millionen millón millions|billion bn|trillion|thousand|mio|"
        "mrd milliarden milliards|tausend|mille|mil"
    ).split("|")
    for alias in names.split()
} | dict.fromkeys(("per cent", "pour cent", "por ciento"), "%")
"""Each spelling of a unit and the one that stands for all."""
_UNIT: Final = (
    "(?i:" + "|".join(map(re.escape, sorted(UNITS, key=lambda unit: (-len(unit), unit)))) + ")"
)
_CJK_UNIT: Final = (
    "[万亿億千百个個元円块美欧年月日号天周週時时小点分秒钟鐘間间人名件次台倍度岁歳页頁行条項项回本章"
    "원년월일시분초개명만억]{1,3}+"
)
_SIGN: Final = r"(?:(?:US|CA|AU|HK|NT|R)?[$€£¥₹₽₩₺]|(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|INR)(?=[ 0-9]))"
_SPACED: Final = (
    r"(?<![0-9][ .,])[0-9]{1,3}(?: [0-9]{3}){1,4}+(?=[ \u00a0]?(?:[€$£%]|(?i:eur|usd|chf)))"
)
"""Thousands apart by blanks, as the French write them: before a currency nothing else is meant."""
NUMBER: Final = (
    rf"(?:{_SPACED}|[{DIGIT}]++(?:[._٫][{DIGIT}]++|[,'’٬\u00a0\u202f][{DIGIT}]{{3}}(?![{DIGIT}])"
    rf"|,[{DIGIT}]{{1,2}}(?![{DIGIT}]|,[{DIGIT}]))*+)"
)
_DATE: Final = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]++)?+)?+"
    rf"(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?+)?+(?![{_W}])"
    r"|(?:[0-9]{4}[年년] ?)?[0-9]{1,2}[月월] ?[0-9]{1,2}[日号일]|[0-9]{4}[年년] ?[0-9]{1,2}[月월]"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th|er|\.)?(?: of| de)? {MONTH}"
    rf"(?:(?: de|,)? [0-9]{{4}}(?![{_W}]))?+"
    rf"|{MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?(?![{_W}:]|\.[0-9])(?:,? [0-9]{{4}}(?![{_W}]))?+"
)
_FILES: Final = (
    "c h md py js ts go rs rb sh cs kt so cpp hpp php sql txt log csv tsv xml yml css ini cfg env "
    "pdf png jpg svg zip tar tgz jar exe tsx jsx doc xls bak pem key crt whl bin dat dll vue lua "
    "java json yaml toml html conf docx xlsx jpeg lock diff scss less bash jsonl ipynb swift patch"
).split()
# Looking back at the extension keeps the name itself possessive, hence linear.
_AFTER_FILE: Final = "|".join(
    "(?<=" + "|".join(rf"\.{end}" for end in _FILES if len(end) == size) + ")"
    for size in range(1, 6)
)
_VALUE: Final = regex(
    # What begins no value is passed over fast: small words before a blank, other scripts.
    rf"(?:[a-zß-öø-ÿа-я]++(?=[ \n,])|[^{_W}./~\\:#@%+$€£¥₹₽₩₺−-]++)++"
    rf"|(?P<url>(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9+-]{{1,15}}+://(?=[{_W}\[/])|www\.(?=\w))"
    rf"{ADDRESS})"
    rf"|(?P<mail>(?<![{_W}.%+-])[{_W}.%+-]{{1,64}}+@[{_W}-]++(?:\.[{_W}-]++)++)"
    rf"|(?P<path>(?<![{_W}])(?:[A-Za-z]:\\|\\\\(?=[{_W}]))(?:{_STEP})?+(?:\\{_STEP})*+"
    rf"|{_NO_STEP}(?:~|\.\.?)?+/(?=[{_W}.@~-]){_STEP}(?:/{_STEP})*+/?+"
    rf"|{_NO_STEP}[{_W}.@][{_W}.@%+~-]*+(?:[/\\]{_STEP})++{after_extension(8)}"
    rf"|{_NO_STEP}[{_W}][{_W}-]*+(?:\.[{_W}-]++)++(?:{_AFTER_FILE}))"
    rf"|(?P<date>(?<![{_W}])(?:{_DATE}))"
    rf"|(?P<time>(?<![{_W}:.])[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]++)?+)?+"
    rf"(?: ?[AaPp]\.?[Mm]\.?| Uhr)?+(?![{_W}]|:[0-9])"
    rf"|(?<![{_W}:.,])[0-9]{{1,2}}(?: ?[AaPp]\.?[Mm](?![{_W}])\.?+| Uhr(?![{_W}]))"
    rf"|(?<![{_W}:.,])[0-9]{{1,2}}(?: ?h ?[0-9]{{2}}(?![{_W}])"
    r"|[時时点點](?:[0-9]{1,2}分(?![钟鐘間间之の])|半)?+(?![間间])))"
    rf"|(?P<id>(?<![{_W}:])(?:(?:[0-9A-Fa-f]{{0,4}}:){{3,7}}[0-9A-Fa-f]{{1,4}}"
    rf"|{UUID}"
    r"|[0-9]++(?:\.[0-9]++)++[-+]?(?:alpha|beta|rc|dev|pre|post|a|b)[.0-9]*+(?<!\.))"
    rf"(?![{_W}:])|(?<![{_W}&])\#[0-9]++(?![{_W}]))"
    rf"|(?P<number>(?<![{_W}])(?:(?<![\])-])[-−])?+(?:{_SIGN} ?)?+{NUMBER}"
    rf"(?:[ \u00a0\u202f-]?{_UNIT}(?: (?:USD|EUR|dollars?|euros?|€))?+(?![{_W}])| ?{_CJK_UNIT})?+"
    rf"(?![{_W}]))"
    # Digits in so many groups are no value; each group would be looked at as the first of one.
    rf"|(?<![{_W}])[{DIGIT}]++(?:[.,_٫'’٬\u00a0\u202f][{DIGIT}]++){{16,}}+"
    rf"|[{_LETTER}]++(?![{_W}.@:/\\-])"
    rf"|(?P<word>(?<![{_W}])[{_W}]++(?:[.-][{_W}]++)*+)"
)
_HAS_DIGIT: Final = regex(f"[{DIGIT}]")
LIST_LABEL: Final = regex(r"^[ \t]*+(?:[-*>][ \t])?\(?([0-9]{1,3}+)[.)](?=[ \t])", re.MULTILINE)


def find_values(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind (number, date, time, id, iban, url, mail, path) and the text of each value.

    The numbers of a list that counts its lines are not values.
    """
    labels = [label.span(1) for label in LIST_LABEL.finditer(text)]
    lines = {span for span in labels if int(text[slice(*span)]) <= len(labels)}
    done = 0
    for start, end in find_ibans(text):
        yield from _find_others(text, done, start, lines)
        yield "iban", text[start:end]
        done = end
    yield from _find_others(text, done, len(text), lines)


def _find_others(text: str, start: int, end: int, lines: set[Span]) -> Iterator[tuple[str, str]]:
    """Yield all values between two places but those that need more than a pattern."""
    for match in _VALUE.finditer(text, start, end):
        kind = match.lastgroup
        if kind is None or match.span() in lines:
            continue
        value = match[0]
        if kind == "word":
            kind = "id"
            if not _HAS_DIGIT.search(value):
                continue
        elif kind == "url":
            value = trim_url(value)
        yield kind, value


_QUOTE: Final = regex(
    QUOTED
    + r"|(?<!`)`[^`\n]++`(?!`)|(?<![\w'’])'(?=[^\s'])[^'\n]{1,80}+'(?![\w'])|‘[^‘’\n]{1,80}+’(?!\w)"
)


def find_quotes(text: str) -> Iterator[str]:
    """Yield every quoted string that holds a letter or digit, with its marks."""
    for match in _QUOTE.finditer(text):
        if any(map(str.isalnum, match[0])):
            yield match[0]


# These two look at lower-case text: `re` is four times slower when it has to ignore case itself.
_FAILURES: Final = (
    "error exception failed fatal traceback panicked segfault fehler fehlgeschlagen erreur échec "
    "falló erro: falha falhou errore fallito mislukt fout: błąd fel: virhe hata: hatası "
    "başarısız gagal kesalahan lỗi ошибк сбой помилк σφάλμα αποτυχ خطأ فشل خطا שגיאה त्रुटि विफल "
    "ข้อผิดพลาด ล้มเหลว 错误 失败 异常 錯誤 エラー 失敗 例外 오류 실패"
).split()
_FAILURE: Final = regex(
    rf"(?=[{''.join(sorted({word[0] for word in _FAILURES}))}])(?:{'|'.join(_FAILURES)}"
    r"|exit(?:ed)?(?: with)?(?: (?:code|status))?[ :=]{1,2}+-?0*+[1-9])"
)
_NO_FAILURE: Final = regex(
    r"\b(?:no|0|zero|without|keine?|sans|sin|nessun|без) (?:\w++ )?(?:errors?|failures?|"
    r"exceptions?|failed|fehler|erreurs?|ошибок)\b|errors?: 0\b|failed: 0\b"
    r"|没有错误|无错误|エラーなし"
)
_LONG_LINE: Final = 240
"""A longer line is a paragraph: its sentences are looked at one by one. A guess."""
SENTENCE_END: Final = regex(rf"(?<=[.!?;…])\s++(?!(?<=[0-9]\.\s){MONTH})|(?<=[。！？；｡।۔؟])|\n")
"""Not between "30." and "Juni"."""


def pieces(text: str) -> Iterator[str]:
    """Yield the sentences, lines and list items of *text*; semicolons divide too."""
    for piece in SENTENCE_END.split(text):
        if piece and (stripped := piece.strip()):
            yield stripped


def _is_long(line: str) -> bool:
    """Tell whether a line is a paragraph; scripts with many bytes a letter need fewer letters."""
    return len(line) > _LONG_LINE or len(line.encode("utf-8", "surrogatepass")) > _LONG_LINE


def find_errors(text: str) -> Iterator[str]:
    """Yield every error line; of a line as long as a paragraph, the sentence."""
    if _FAILURE.search(text.lower()):
        for line in text.split("\n"):
            for part in pieces(line) if _is_long(line) else (line,):
                lower = part.lower()
                if _FAILURE.search(lower) and not _NO_FAILURE.search(lower):
                    yield part.strip()


_NO_WORDS: Final = (
    "not never cannot without none nobody nothing neither nor nowhere nicht nichts kein keine "
    "keinen keiner keinem keines keinesfalls keineswegs weder nie niemals niemand ohne nein "
    "pas jamais aucun aucune rien sans nunca jamás ninguno ninguna ningún nada nadie sin não "
    "nem nenhum nenhuma sem nessun "
    "nessuno nessuna niente senza niet geen nooit inte aldrig ikke nigdy değil yok tidak jangan "
    "bukan không не нет никогда нельзя ни без ні немає δεν μην όχι नहीं मत न لا لم لن ليس ليست "
    "بدون غير نیست نباید לא אין אל"
).split()
_NO: Final = regex(
    rf"(?=[{''.join(sorted({word[0] for word in _NO_WORDS}))}])(?<!\w)"
    r"(?!(?:without|ohne|sans|sin) (?:exce[pb]|ausnahm))"
    r"(?!(?:(?<=with or )without|(?<=mit oder )ohne|(?<=avec ou )sans|(?<=con o )sin)(?!\w))"
    rf"(?:{'|'.join(_NO_WORDS)}|no(?!\.? ?[0-9#]| exceptions?(?!\w))|non(?!-))(?!\w)"
    r"|(?<=n)['’]t(?!\w)|(?<!\w)n(?:e |['’])[a-zà-ü]{1,12}+ plus(?!\w)"
    r"|(?=[不没别未禁无勿対なまず않못없금마지ไห])(?:不(?!同(?!意)|[断仅过但])|没|"
    r"(?<![特区级类分识个性辨])别(?![人的])"
    r"|未(?!来)|禁止|无(?!论)|勿|対象外|(?<![少危])ない|ません|なかっ|ずに"
    r"|않|못|없|금지|마세요|지 마|ไม่|ห้าม)"
)
_PORTUGUESE: Final = regex(r"[ãçõ][aeo]")


def find_no(lower: str) -> list[re.Match[str]]:
    """Return the words of a text in lower case that negate."""
    negations = list(_NO.finditer(lower))
    if negations and _PORTUGUESE.search(lower):  # there, "no" means "in the"
        return [word for word in negations if word[0] != "no"]
    return negations
