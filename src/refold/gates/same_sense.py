"""Refuses an answer that says the opposite in other words: failed for succeeded, fell for rose."""

from __future__ import annotations

import re
from typing import Final

from refold.gates._clauses import Clause, split_clauses
from refold.gates.base import Gate, Refusal, Source

_OPPOSITES: Final = (
    (
        r"\bsucce|\bpass(?:ed|es)?\b|\bworked\b|\bgel(?:ing|ang|ung)|\berfolg|\bréuss|\bexitos"
        r"|\bsal(?:e|ió) bien|成功|合格",
        r"\bfail|\bscheiter|\bfehlg?e?schl|\bmissl|\béchou|\béchec|\bfall[óa]|\bsal(?:e|ió) mal"
        r"|\bfracas|失败|失敗",
    ),
    (
        r"\bapprov|\baccept|\b(?<!dis)agree|\ballow|\bpermi|\bgrant|\bgenehm|\bzu(?:ge)?stimm"
        r"|\bangenomm|\berlaub|\bapprouv|\bautoris|\bautoriz|\bacept|\baprob|同意|批准|接受|承認|許可"
        r"|受け入れ",
        r"\breject|\brefus|\bdeclin|\bden(?:y|ie)|\bdisagree|\bforb[ia]d|\bprohib|\bbanned|\bab(?:ge)?"
        r"lehn|\bverweig|\bverb(?:ie|o)t|\brejet|\binterdi|\brechaz|\bdeneg|拒绝|否决|禁止|却下|否決|拒否",
    ),
    (
        r"\brais|\brose\b|\brisen|\bincreas|\bgr[eo]w|\bstieg|\bgestiegen|\berhöh|\baugment"
        r"|\bsub(?:ió|ieron|ido)|\baument|\bcrec|上升|增加|升到|提高|増|上が",
        r"\blower(?:ed|s|ing)\b|\bfell\b|\bfallen|\bdecreas|\bdropped|\breduc|\bsank|\bshr[aiu]nk|\bschrumpf|\bgesunken"
        r"|\bgefallen|\bsenk|\bgesenkt|\bbaiss|\bdimin|\brédui|\bbaj(?:ó|aron|ado)|\bcay|\bdisminu"
        r"|下降|减少|降到|降低|減|下が",
    ),
    (
        r"\benabl|\bactivat|\b(?:switch|turn)(?:ed|s)? on\b|\baktivier|\beingeschalt|\bactiv[éeó]",
        r"\bdisabl|\bdeactivat|\b(?:switch|turn)(?:ed|s)? off\b|\bdeaktivier|\bab(?:ge)?schalt"
        r"|\bdésactiv|\bdesactiv",
    ),
    (
        r"\badd(?:ed|s)?\b|\bkeeps?\b|\bkept\b|\bbehalt|\bgard(?:e|é|er)\b|\bmant(?:iene|uvo)|保留|残し",
        r"\bremov|\bdelet|\bdropp?(?:ed|s)?\b|\blösch|\bgelöscht|\bsupprim|\bborr|\belimin|删除|削除",
    ),
    (
        r"\bbefore (?:she|he|they|it|that|this)\b|\bbeforehand\b|\bvorher\b|\bdavor\b",
        r"\bafter (?:she|he|they|it|that|this)\b|\bafterwards\b|\bnachher\b|\bdanach\b",
    ),
    (r"\bon the (?:menu|list|agenda|table|market)", r"\boff the (?:menu|list|agenda|table|market)"),
    (
        r"\bopen(?:ed|s)?\b|\bgeöffnet|\bouvert|\babiert|开放",
        r"\bclos(?:ed?|es)\b|\bgeschlossen|\bferm[ée]|\bcerrad|关闭",
    ),
)
_SIDES: Final = tuple((re.compile(one), re.compile(other)) for one, other in _OPPOSITES)
_HEDGED: Final = re.compile(
    r"[?？]|\b(?:if|unless|whether|avoid|un\w{3,}|in(?:valid|complete)|missing|lacks?|without|"
    r"no longer|refus|reject|forb|prohib|only|except|ob|wenn|falls|nur|außer|si|sauf|seulement|"
    r"solo|sólo|salvo)|如果|除|避免|禁止|拒绝|場合|以外|だけ"
)
"""Clauses that may say no in other words, or not quite yes."""
_NO_STEMS: Final = frozenset(
    "nobo noth neve none neit cann with niem kein nich jama pers rien nunc".split()
)
"""How words that deny begin; they are not what is denied."""
_NO_NEEDED: Final = 2
"""Two clauses speak of the same thing if they have so many words in common."""


def _check(source: Source, answer: str) -> Refusal | None:
    told = [clause for clause in split_clauses(answer) if clause.stems]
    turned = _lost_no(source, told)
    if turned is not None:
        return _refuse(turned)
    for one, other in _SIDES:
        for side, opposite in ((one, other), (other, one)):
            for clause in told:
                if side.search(clause.lower) is None or clause.says_no:
                    continue
                if opposite.search(clause.lower) is None and _is_opposed(
                    source, clause, side, opposite
                ):
                    return _refuse(clause)
    return None


def _refuse(clause: Clause) -> Refusal:
    why = f"the source says the opposite of: {clause.text.strip()[:80]!r}"
    return Refusal(gate="same_sense", why=why, is_false=True)


def _lost_no(source: Source, told: list[Clause]) -> Clause | None:
    """Return a clause that says all that a clause of the source denies, without its no."""
    index = source.clauses
    for clause in told:
        if clause.says_no or _HEDGED.search(clause.lower):
            continue
        for place, common in index.overlaps(clause.stems).items():
            theirs = index.clauses[place]
            denied = theirs.stems - _NO_STEMS
            is_same = common >= _NO_NEEDED and denied <= clause.stems
            if is_same and theirs.says_no and not _is_affirmed(source, denied):
                return clause
    return None


def _is_affirmed(source: Source, stems: frozenset[str]) -> bool:
    """Tell whether a clause of the source says all these without a no."""
    index = source.clauses
    found = index.overlaps(stems).items()
    return any(n == len(stems) and not index.clauses[place].says_no for place, n in found)


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Return where *pattern* occurs last, -1 if nowhere."""
    return max((found.start() for found in pattern.finditer(text)), default=-1)


def _is_opposed(
    source: Source, clause: Clause, side: re.Pattern[str], opposite: re.Pattern[str]
) -> bool:
    """Tell whether what is most like *clause* in the source says the opposite, and nothing it."""
    best, is_opposed, words = 0, False, 0
    index = source.clauses
    for place, common in index.overlaps(clause.stems).items():
        theirs = index.clauses[place]
        same, other = _last(side, theirs.lower), _last(opposite, theirs.lower)
        says_same, says_other = same > other, other > same  # an approval that is refused is none
        if not says_same and not says_other:
            continue
        alike = common - says_same  # the same word for it does not make them alike
        if alike > best:
            best, is_opposed = alike, says_other and not says_same and not theirs.says_no
            words = min(len(clause.stems), len(theirs.stems))
        elif alike == best and says_same:
            is_opposed = False
    return is_opposed and best >= min(_NO_NEEDED, max(1, words - 1))


GATE: Final = Gate("same_sense", _check)
