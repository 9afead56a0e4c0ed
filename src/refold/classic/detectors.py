"""What must survive word for word: one table of reasons, and how each is found."""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from sys import maxsize
from typing import Final

from refold.checks import check_rows
from refold.classic.english import FAILURES, LEGAL_TERMS, Phrases, is_argument, is_sql
from refold.classic.structured import has_fence
from refold.classic.texts import View
from refold.lazy import regex
from refold.scan.patterns import QUOTED, WEB_ADDRESS, find_ibans, trim_url
from refold.scan.runs import Span, churn
from refold.scan.secrets import find_keys

LONGEST_NAME: Final = 120  # a name of more characters would take the room of a sentence
_NEAR: Final = 40  # two different weak signs at most this far apart make a formula
_LEAST_DATA: Final = 40  # shorter runs are words of a URL, keys and hashes: other reasons
_MIN_CHURN: Final = 0.3  # random letters and digits are above 0.4, words and names below 0.25
_MIN_LINES: Final = 4  # fewer lines have no variance to speak of
_MAX_VARIATION: Final = 1.2  # of the lengths of lines: standard deviation ÷ mean
_MAX_SPECIAL: Final = 0.15  # the share of brackets, operators and other signs that prose has
_MIN_LABELS: Final = 3  # capitalized labels ("Chair: Anna") are data; two are minutes
_LEAST_QUOTE: Final = 12  # ten characters and the two marks
_MAX_LOCAL: Final = 64  # before the sign of an e-mail address, by RFC 5321
_MAX_STEP: Final = 128  # how far the first step of a path is read back, which bounds the time

Found = Iterable[Span] | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One reason why a text is more than prose.

        Detector(reason="ticket", hard=True, find=pattern_finder(re.compile(r"TICK-[0-9]+")))

    A *hard* finding keeps the whole text word for word. A *soft* one may be named beside the
    summary. `find` returns the findings in reading order, or just whether there are any, in linear
    time.
    """

    reason: str
    hard: bool
    find: Callable[[View], Found]
    cost: int = 3
    """Cheap detectors are tried first where one finding is enough."""

    def finds(self, view: View) -> bool:
        """Return whether there is at least one finding."""
        findings = self.find(view)
        return findings if isinstance(findings, bool) else next(iter(findings), None) is not None


def pattern_finder(
    pattern: re.Pattern[str], *needles: str, digits: bool = False, group: int = 0
) -> Callable[[View], Iterator[Span]]:
    """Make a `find` from a regular expression, or a *group* of it.

    Texts that have none of the *needles*, or no digit where *digits* says so, are passed over.
    """

    def find(view: View) -> Iterator[Span]:
        text = view.text
        if digits and not view.has_digits:
            return
        if not needles or any(needle in text for needle in needles):
            for match in pattern.finditer(text):
                yield match.span(group)

    return find


def _phrase_finder(*phrases: str) -> Callable[[View], Iterator[Span]]:
    """Make a `find` for phrases in lower case, whatever case a text has."""
    words = Phrases(*phrases).words
    find = pattern_finder(regex(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE))
    return lambda view: find(view) if view.has_any(words) else iter(())


_INDENTED: Final = regex(r"^(?: {4}|\t)[ \t]*+\S[^\n]*+\n(?: {4}|\t)[ \t]*+\S", re.M)


def _indented_code(view: View) -> bool:
    text = view.text
    return ("\n    " in text or "\n\t" in text) and _INDENTED.search(text) is not None


# No blank inside the signs and no letter after the closing one, as Markdown tools have it: that
# alone rejects "$5 or $12" and "$HOME/$USER". A shell writes `${NAME}` and `${NAME:-x}`.
_DOLLARS: Final = regex(
    r"\$\$([^$]++)\$\$|\$((?=\S)(?!\{\w{1,64}+[}:])[^$\n]{1,400}+(?<=\S))\$(?![\w({])"
)
_OPERATOR: Final = regex(r"\\[A-Za-z]|[\^_=+<>]")
_THREE_LETTERS: Final = regex(r"[^\W\d_]{3}")
_LETTER: Final = regex(r"[^\W\d_]")


def _latex_math(view: View) -> bool:
    text, at = view.text, 0
    if text.count("$") < 2:
        return False
    while match := _DOLLARS.search(text, at):
        inside = match[1] or match[2]
        # Letters that form no word ("x", "2a/b") are a formula as well.
        if _OPERATOR.search(inside) or (
            _LETTER.search(inside) and not _THREE_LETTERS.search(inside)
        ):
            return True
        at = match.end() - 1  # the sign that closed this pair may open the next one
    return False


# A strong sign needs an operand after it, maybe with an index between: "(・∀・)" is a face.
_INDEX: Final = "[\u2080-\u209c\u1d62-\u1d6a\u2c7c\u2070-\u207f]"
_STRONG_SIGN: Final = regex(
    rf"[∀∃∄∈∉⊂⊆⊃⊇∪∩∧∨¬∑∏∫√∂∇](?:{_INDEX}|\s?(?:[A-Za-z0-9Α-Ωα-ωℂℕℚℝℤ∅({{\[∀∃¬√∑∫]"
    r"|[_^][A-Za-z0-9{(]))"
)
_ANY_SIGN: Final = regex("[∀∃∄∈∉⊂⊆⊃⊇∪∩∧∨¬∑∏∫√∂∇≈≠≤≥∞±×÷]")
# Relations, and signs of arithmetic that do not stand at a number ("300×250", "± 5").
_WEAK_SIGN: Final = regex(r"([≈≠≤≥∞])\1*+|([±×÷])(?!\s?[0-9])(?<![0-9].)(?<![0-9]\s.)")


def _unicode_math(view: View) -> bool:
    text = view.text
    if text.isascii() or not _ANY_SIGN.search(text):
        return False
    if _STRONG_SIGN.search(text):
        return True
    before: re.Match[str] | None = None
    for sign in _WEAK_SIGN.finditer(text):
        if before and before[0][0] != sign[0][0] and sign.start() - before.end() <= _NEAR:
            return True
        before = sign
    return False


# Numbers alone end the text or are cut off: "[1] see there" is a citation.
_JSON_START: Final = regex(
    r'\s*+(?:\{\s*+"|\[\s*+(?:"|\{\s*+["}]|\[\s*+["\[{\]0-9-]|-?[0-9][0-9.eE+\-]*+\s*+(?:\]\s*+\Z'
    r'|,[0-9.eE+\-,\s]*+(?:\]\s*+\Z|\Z|["\[{]|null|true|false))))'
)


_KEY: Final = r"[A-Za-z0-9_-]{1,64}+:"
_LATER_KEY: Final = regex(rf"\n[ \t]{{0,16}}+{_KEY}(?:[ \t\r\n]|\Z)")
_KEY_LINES: Final = regex(
    rf"^{_KEY}(?:[ \t]++[^\s][^\n]*+(?:\n{_KEY}[ \t]++[^\s][^\n]*+)++"
    rf"|[ \t]*+\n[ \t]{{1,16}}+{_KEY}(?=[ \t\r\n]|\Z)[^\n]*+)",
    re.M,
)


def _yaml_structure(view: View) -> bool:
    text = view.text
    return _LATER_KEY.search(text) is not None and any(
        _is_mapping(run[0]) for run in _KEY_LINES.finditer(text)
    )


def _is_mapping(run: str) -> bool:
    """Tell a mapping from minutes and from the turns of a transcript."""
    plain = 0
    labels: list[str] = []
    for line in run.split("\n"):
        key, _, value = line.partition(":")
        plain = 0 if key[:1].isupper() else plain + 1
        # Speakers talk in sentences and come back; the labels of a record do neither.
        talks = value.rstrip().endswith((".", "!", "?"))
        labels = [] if talks or key in labels else [*labels, key]
        if plain == 2 or len(labels) == _MIN_LABELS:
            return True
    return False


_CAPITAL: Final = "[A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ]"
# Four words a line, at least one of them in lower case: items of an agenda are short or titles.
# Three will do if they say what something is, which no item does.
_VERSE_LINE: Final = (
    rf"{_CAPITAL}(?=[^\n]*?[ \t][a-zß-öø-ÿα-ωа-яё])"
    r"[^\s.!?。！？]*+(?:(?:[ \t]++[^\s.!?。！？]++){3,}+"
    r"|[ \t]++(?:is|are|was|were|am)[ \t]++[^\s.!?。！？]++)[ \t\r]*+"
)
_STANZA: Final = regex(rf"^{_VERSE_LINE}(?:\n{_VERSE_LINE}(?=\n|\Z)){{2,}}+", re.M)
_TWO_LINES: Final = regex(rf"\n{_CAPITAL}[^\n.!?。！？]*+\n{_CAPITAL}")


def _line_variance(view: View) -> bool:
    if view.text.count("\n") < _MIN_LINES - 1:
        return False
    lengths = list(map(len, view.text.split("\n")))
    total = sum(lengths)
    # deviation > limit × mean, both sides squared and multiplied by the number of lines, squared.
    spread = len(lengths) * sum([n * n for n in lengths]) - total * total
    return spread > _MAX_VARIATION**2 * total * total


_SPECIAL: Final = rb"{}[]<>|\;:@#$%^&*()=+`~"


def _special_chars(view: View) -> bool:
    plain = view.plain
    return len(plain) - len(plain.translate(None, _SPECIAL)) > _MAX_SPECIAL * len(plain)


_KEY_RUN: Final = bytes([byte in b"-_" or chr(byte).isalnum() for byte in range(128)]) + bytes(128)
_KINDS: Final = bytes([(65 <= b < 91) + 2 * (48 <= b < 58) for b in range(256)])
"""Maps capitals to 1, digits to 2 and everything else to 0."""


def _url(view: View) -> Iterator[Span]:
    if "://" in view.text:
        for match in WEB_ADDRESS.finditer(view.text):
            yield match.start(), match.start() + len(trim_url(match[0]))


# Searching for the sign and reading back from it is linear: a long word without one costs nothing.
_AT_HOST: Final = regex(r"@[A-Za-z0-9-]{1,63}+(?:\.[A-Za-z0-9-]{1,63}+)++(?<=[A-Za-z]{2})")
_LOCAL: Final = f"{string.ascii_letters}{string.digits}.+-_%"


def _email(view: View) -> Iterator[Span]:
    text = view.text
    for match in _AT_HOST.finditer(text) if "@" in text else ():
        at = match.start()
        before = text[max(0, at - _MAX_LOCAL) : at]
        local = before[len(before.rstrip(_LOCAL)) :].lstrip(".-")
        top = match[0].rpartition(".")[2]
        if local and len(top) > 1 and top.isalpha():
            yield at - len(local), match.end()


_STEPS: Final = regex(r"/[A-Za-z0-9_.-]++(?:/[A-Za-z0-9_.-]++)++")
_STEP_NAME: Final = f"{string.ascii_letters}{string.digits}._-~@"


def _file_path(view: View) -> Iterator[Span]:
    text = view.text
    for match in _STEPS.finditer(text) if "/" in text else ():
        start, steps = match.start(), match[0]
        before = text[max(0, start - _MAX_STEP) : start]
        stops = len(steps) - len(steps.rstrip(".")) if not steps.endswith("/..") else 0
        yield start - len(before) + len(before.rstrip(_STEP_NAME)), match.end() - stops


_DATA_RUN: Final = bytes([byte in b"+/" or chr(byte).isalnum() for byte in range(128)]) + bytes(128)
_PADDING: Final = regex("={0,2}+")
_HASH: Final = regex(r"(?i:(?=[0-9a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{40,64})")


def _base64_content(view: View) -> Iterator[Span]:
    for start, stop in view.runs(_DATA_RUN, _LEAST_DATA):
        padding = _PADDING.match(view.text, stop)
        end = padding.end() if padding else stop
        run = view.text[start:end]
        if _HASH.fullmatch(run):  # a softer reason of its own
            continue
        pieces = run.replace("+", "/").split("/")
        is_unbroken = any(len(piece.rstrip("=")) >= _LEAST_DATA for piece in pieces)
        is_padded = run.endswith("=") and len(run) % 4 == 0 and any(map(str.isalnum, run))
        if is_unbroken or is_padded or churn(run) >= _MIN_CHURN:
            yield start, end


# A run can only be entered at its start, so each is read once; half a hash is not a hash.
_HEX: Final = regex(rf"(?<![0-9a-fA-F])[0-9a-fA-F]{{{_LEAST_DATA},}}+")


def _hash_or_sha(view: View) -> Iterator[Span]:
    for start, end in view.runs(_DATA_RUN, _LEAST_DATA):
        for match in _HEX.finditer(view.text, start, end):
            yield match.span()


_FRAME: Final = regex(
    r"^(?:[ \t|+>]{0,40}+(?:Traceback \(most recent call last\)|Exception in thread\b)"
    r"|[ \t]++at (?:[A-Za-z0-9_][A-Za-z0-9_$.]*+\("
    r"|[^\s(][^\n(]{0,200}+\([^\n():]{0,400}+:(?:[^\n():]{0,400}+:)?[0-9]++(?::[0-9]++)?\)))",
    re.M,
)

# These two read lower-cased text.
_PROTOCOL: Final = regex(r"http/[0-9]\.[0-9]\s{1,4}+[45][0-9]{2}(?!\w)")
_STATUS: Final = regex(
    r"status(?<!\wstatus)(?:(\scode)(?:\sis\b)?)?([\s:=]{1,4}+)[45][0-9]{2}(?!\w)"
)
# "status 404 main street" names a house, "status 450 units" counts: a bare number is not enough.
_COUNTS: Final = regex(
    r"\s(?:[\w'-]{1,30}+\s){0,2}?"
    r"(?:street|avenue|road|lane|drive|boulevard|square|court|place|suite|st|ave|rd|blvd"
    r"|people|persons|members|customers|units|items|pieces|orders|points|dollars|euros|miles)\b"
)


def _http_error(view: View) -> bool:
    if b"http" in view.words and _PROTOCOL.search(view.lower):
        return True
    statuses = _STATUS.finditer(view.lower) if b"status" in view.words else ()
    return any(m[1] or m[2].strip() or not _COUNTS.match(view.lower, m.end()) for m in statuses)


# What may not stand before is checked after the first character, so that `re` can skip to it.
_PHONE: Final = regex(
    r"[+(0-9](?<![\w+].)"
    r"(?:(?<=\+)[0-9]{1,3}[-. \u00a0]?\(?[0-9]{3}|(?<=\()[0-9]{3}|(?<=[0-9])[0-9]{2})"
    r"\)?[-. \u00a0]?[0-9]{3}[-. \u00a0]?[0-9]{4}(?!\w)",
    re.A,
)
_VERSION: Final = regex(
    r"[vV](?<!\w.)(?:[0-9]{1,9}+(?:\.[0-9]{1,9}+){1,3}+|(?i:ersion)\s{1,3}+[0-9]{1,9}+(?:\.[0-9]{1,9}+){0,3}+)"
    r"(?:-(?:alpha|beta|rc|dev|pre)[.0-9]{0,9}+(?<!\.))?(?!\w)",
    re.A,
)
_DOTTED: Final = regex(r"[0-9](?<![\w,].)[0-9]*+(?:\.[0-9]++){1,5}(?!\w)", re.A)
_MEASURE: Final = regex(
    r"[0-9](?<![\w.,].)[0-9]*+(?:\.[0-9]++)?+[ \t\u00a0\u202f]?"
    r"(?i:km|kg|ms|[µμ]s|ns|mhz|ghz|hz|mb|gb|tb|°c|°f|m|s)(?!\w)",
    re.A,
)
_QUOTED_KEY: Final = regex(r'"([^"\n]{3,200}+)"(?=\s{0,16}+[,:])')
_QUOTE: Final = regex(QUOTED)


def _direct_quote(view: View) -> Iterator[Span]:
    # Short quotations match, too: to skip them would take their closing mark for an opening one.
    has_marks = any(mark in view.text for mark in '"“„«「『')
    for match in _QUOTE.finditer(view.text) if has_marks else ():
        if match.end() - match.start() >= _LEAST_QUOTE:
            yield match.span()


def _hard(reason: str, cost: int, find: Callable[[View], Found]) -> Detector:
    return Detector(reason=reason, hard=True, find=find, cost=cost)


def _soft(reason: str, find: Callable[[View], Found]) -> Detector:
    return Detector(reason=reason, hard=False, find=find)


_FRAME_NEEDLES: Final = ("Traceback (most", "Exception in thread", "  at ", "\tat ", "\n at ")
DETECTORS: Final[tuple[Detector, ...]] = (
    _hard("code_fence", 1, lambda view: has_fence(view.text)),
    _hard("indented_code", 0, _indented_code),
    _hard("latex_math", 1, _latex_math),
    _hard("unicode_math", 1, _unicode_math),
    _hard("json_structure", 0, lambda view: _JSON_START.match(view.text) is not None),
    _hard("yaml_structure", 2, _yaml_structure),
    _hard("verse_pattern", 3, lambda v: bool(_TWO_LINES.search(v.text) and _STANZA.search(v.text))),
    _hard("high_line_length_variance", 2, _line_variance),
    _hard("high_special_char_ratio", 1, _special_chars),
    _hard("sql_content", 5, is_sql),
    _hard("api_key", 3, lambda view: any(view.runs(_KEY_RUN, 20)) and find_keys(view.text)),
    _hard("iban", 4, lambda v: b"\1\1\2\2" in v.plain.translate(_KINDS) and find_ibans(v.text)),
    _hard("reasoning_chain", 6, is_argument),
    _soft("url", _url),
    _soft("email", _email),
    _soft("phone", pattern_finder(_PHONE, digits=True)),
    _soft("version_number", pattern_finder(_VERSION, "v", "V", digits=True)),
    _soft("hash_or_sha", _hash_or_sha),
    _hard("base64_content", 3, _base64_content),
    _soft("file_path", _file_path),
    _soft("ip_or_semver", pattern_finder(_DOTTED, ".", digits=True)),
    _soft("quoted_key", pattern_finder(_QUOTED_KEY, '"', group=1)),
    _soft("legal_term", _phrase_finder(*LEGAL_TERMS)),
    _soft("direct_quote", _direct_quote),
    _soft("numeric_with_units", pattern_finder(_MEASURE, digits=True)),
    _hard("error_traceback", 2, pattern_finder(_FRAME, *_FRAME_NEEDLES)),
    _hard("http_error", 4, _http_error),
    _hard("failure_signature", 4, _phrase_finder(*FAILURES)),
)
"""In the order in which reasons are reported."""


class DetectorTable:
    """Detectors in the order in which their reasons are reported, and how they are asked."""

    def __init__(self, detectors: tuple[Detector, ...]) -> None:
        self._all: Final = detectors
        self._hard: Final = [one for one in detectors if one.hard]
        self._soft: Final = [one for one in detectors if not one.hard]
        self._cheap_first: Final = sorted(self._hard, key=lambda one: one.cost)

    def reasons(self, text: str) -> tuple[str, ...]:
        """Name every reason to treat *text* as more than prose."""
        view = View(text)
        return tuple([one.reason for one in self._all if one.finds(view)])

    def hard(self, view: View) -> tuple[str, ...]:
        """Name every hard reason: they alone decide."""
        if view.hard is None:
            view.hard = tuple([one.reason for one in self._hard if one.finds(view)])
            view.forget()
        return view.hard

    def first_hard(self, view: View) -> str:
        """Return a hard reason, "" if there is none; when one is found, no other is looked for."""
        if view.first_hard is None:
            reasons = (one.reason for one in self._cheap_first if one.finds(view))
            view.first_hard = next(reasons if view.hard is None else iter(view.hard), "")
            view.forget()
        return view.first_hard

    def soft_texts(self, view: View) -> Iterator[str]:
        """Yield what the soft detectors find; long findings are left out, never cut.

        Half a link or half a hash would be a value that the text does not hold, and the path in an
        address is not a finding of its own to a reader.
        """
        taken: list[Span] = []
        for detector in self._soft:
            findings = detector.find(view)
            known = () if isinstance(findings, bool) else findings
            spans = [span for span in known if not _is_inside(span, taken)]
            taken = sorted([*taken, *spans]) if spans else taken
            for start, end in spans:
                if end - start <= LONGEST_NAME and (piece := view.text[start:end].strip()):
                    yield piece


def _is_inside(span: Span, taken: list[Span]) -> bool:
    before = bisect_right(taken, (span[0], maxsize))
    return before > 0 and span[1] <= taken[before - 1][1]


TABLE: Final = DetectorTable(DETECTORS)


def table_of(detectors: Sequence[Detector] | None) -> DetectorTable:
    """Return a table of the caller's detectors; by default that of refold's own.

    Raises `ConfigError` for what is not a detector, and for two of them with the same reason.
    """
    if detectors is None:
        return TABLE
    check_rows("detectors", detectors, Detector, by="reason")
    return TABLE if tuple(detectors) == DETECTORS else DetectorTable(tuple(detectors))
