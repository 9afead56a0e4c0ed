"""Refuses an answer that says the opposite in other words: failed for succeeded, fell for rose."""

from __future__ import annotations

import re
from typing import Final

from refold.llm.gates._clauses import ASIAN, Clause, split_clauses
from refold.llm.gates.base import Gate, Refusal, Source

_OPPOSITES: Final = (
    (
        r"\bsucce|\bpass(?:ed|es)?\b|\bworked\b|\bgel(?:ing|ang|ung)|\berfolg|\bréuss|\bexitos"
        r"|\bsal(?:e|ió) bien|成功|合格|通过",
        r"\bfail|\bscheiter|\bfehlg?e?schl|\bmissl|\béchou|\béchec|\bfall[óa]|\bsal(?:e|ió) mal"
        r"|\bfracas|失败|失敗",
    ),
    (
        r"\bapprov|\baccept|\b(?<!dis)agree|\ballow|\bpermi|\bgrant|\bgenehm|\bzu(?:ge)?stimm"
        r"|\bangenomm|\berlaub|\bapprouv|\bautoris|\bautoriz|\bacept|\baprob|同意|批准|接受|承認|"
        r"許可"
        r"|受け入れ",
        r"\breject|\brefus|\bdeclin|\bden(?:y|ie)|\bdisagree|\bforb[ia]d|\bprohib|\bbanned|"
        r"\bab(?:ge)?"
        r"lehn|\bverweig|\bverb(?:ie|o)t|\brejet|\binterdi|\brechaz|\bdeneg|拒绝|否决|禁止|却下|"
        r"否決|拒否",
    ),
    (
        r"\brais|\brise|\blift|\brose\b|\brisen|\bincreas|\bgr[eo]w|\bstieg|\bgestiegen|\berhöh|"
        r"\baugment"
        r"|\bsub(?:ió|ieron|ido)|\baument|\bcrec|上升|增多|多了|增加|升到|提高|増|上が",
        r"\blower(?:ed|s|ing)?\b(?! than)|\bfell\b|\bfall\b|\bfallen|\bdecreas|\bdropped|\breduc|"
        r"\bsank|\bshr[aiu]nk|\bschrumpf|\bgesunken"
        r"|\bgefallen|\bsenk|\bgesenkt|\bbaiss|\bdimin|\brédui|\bbaj(?:ó|aron|ado)|\bcay|\bdisminu"
        r"|下降|少了|减少|降到|降低|減|下が",
    ),
    (
        r"\benabl|\bactivat|\b(?:switch|turn)(?:ed|s)? on\b|\baktivier|\beingeschalt|\bactiv[éeó]",
        r"\bdisabl|\bdeactivat|\b(?:switch|turn)(?:ed|s)? off\b|\bdeaktivier|\bab(?:ge)?schalt"
        r"|\bdésactiv|\bdesactiv",
    ),
    (
        r"\badd(?:ed|s)?\b|\bkeeps?\b|\bkept\b|\bbehalt|\bgard(?:e|é|er)\b|\bmant(?:iene|uvo)|"
        r"保留|残し",
        r"\bremov|\bdelet|\bdropp?(?:ed|s)?\b|\blösch|\bgelöscht|\bsupprim|\bborr|\belimin|删除|"
        r"削除",
    ),
    (
        r"\bbefore (?:she|he|they|it|that|this)\b|\bbeforehand\b|\bvorher\b|\bdavor\b",
        r"\bafter (?:she|he|they|it|that|this)\b|\bafterwards\b|\bnachher\b|\bdanach\b",
    ),
    (
        r"\bearl(?:y|ier)\b|\bahead\b|\bfrüh(?:er)?\b|\bd'avance\b|\ben avance|\btemprano|提前|早",
        r"\blate[rd]?\b|\bbehind schedule|\bdelay|\bspät(?:er)?\b|\bretard|\btarde\b|推迟|延期|"
        r"晚|遅",
    ),
    (
        r"比[^，。]{1,6}好|\bstrong|\bbetter\b|\bstark|\bbesser\b|\bfort(?:e|s|es)?\b|\bmeilleur|"
        r"\bfuerte|\bmejor",
        r"比[^，。]{1,6}差|\bweak|\bworse\b|\bschwach|\bschwäch|\bschlechter|\bfaible|\bpire\b|"
        r"\bdébil|\bpeor\b",
    ),
    (
        r"\b(?:decid|opt|vot)\w* for\b|\bfür [^,.]{1,40} entschied|\bpour\b|\ba favor\b",
        r"\bagainst\b|\bgegen\b|\bcontre\b|\ben contra\b",
    ),
    (
        r"\bmore\b|\blarger\b|\bbigger\b|\bgrößer|\bteurer|\bexpensive|\bmehr\b|\bde plus\b|"
        r"\bmás\b|更多",
        r"\bless\b|\bsmaller\b|\bkleiner|\bbilliger|\bgünstiger|\bcheaper\b|\bfewer\b|"
        r"\bweniger\b|\bde moins\b|\bmenos\b|更少",
    ),
    (
        r"\bvalid|\bgültig|\bvalable|\bválid|有效|有効",
        r"\binvalid|\bexpired|\bungültig|\binválid|\bcaduc|无效|無効",
    ),
    (
        r"免费|無料|\bfree\b|\bgratis\b|\bgratuit|\bkostenlos",
        r"收费|有料|\bcharged for|\bkostenpflichtig|\bpayant",
    ),
    (
        r"\bincluding\b|\beinschließlich|\by compris|\bincluso",
        r"\bexcept\b|\baußer\b|\bsauf\b|\bsalvo\b",
    ),
    (r"\bon the (?:menu|list|agenda|table|market)", r"\boff the (?:menu|list|agenda|table|market)"),
    (
        r"\bopen(?:ed|s)?\b|\bgeöffnet|\bouvert|\babiert|开放",
        r"\bclos(?:ed?|es)\b|\bgeschlossen|\bferm[ée]|\bcerrad|关闭",
    ),
)
_SIDES: Final = tuple((re.compile(one), re.compile(other)) for one, other in _OPPOSITES)
_NEEDED: Final = 2
"""Two clauses speak of the same thing if they have so many words in common."""
_ONLY: Final = frozenset("only except nur außer seulement sauf sólo solo salvo".split())
_SENTENCE: Final = 3
"""Two sentences, of which only a condition is compared, if so many."""
_VERBATIM: Final = 0.75
"""The share of their words that clauses have in common which differ in little but a no."""
_ALL_BUT_NO: Final = 0.8
_STATED: Final = frozenset({"", "because", "after", "without"})
"""The links of clauses that state something."""


def _check(source: Source, answer: str) -> Refusal | None:
    told = [clause for clause in split_clauses(answer) if clause.stems]
    for clause in told:
        if _is_turned(source, clause):
            return _refuse(clause)
    for one, other in _SIDES:
        for side, opposite in ((one, other), (other, one)):
            for clause in told:
                if side.search(clause.lower) is None or clause.says_no or clause.vague & _ONLY:
                    continue
                if opposite.search(clause.lower) is None and _is_other_side(
                    source, clause, side, opposite
                ):
                    return _refuse(clause)
    return None


def _refuse(clause: Clause) -> Refusal:
    why = f"the source says the opposite of: {clause.text.strip()[:80]!r}"
    return Refusal(gate="same_sense", why=why, is_false=True)


def _is_turned(source: Source, clause: Clause) -> bool:
    """Tell whether the source has a no where *clause* has none, or the other way round.

    Not if it says both, of what the no is about.
    """
    clauses, overlaps = source.clauses.clauses, source.clauses.overlaps(clause.stems)
    opposed = {n for n in overlaps if _is_opposed(source, clause, clauses[n])}
    others = [clauses[n] for n in overlaps if n not in opposed and _agrees(clause, clauses[n])]
    return any(
        not any(_is_as_near(other, clause, clauses[place]) for other in others) for place in opposed
    )


def _is_as_near(other: Clause, clause: Clause, opposed: Clause) -> bool:
    """Tell whether *other* speaks of what is denied in one of two clauses, and of as much else."""
    no, yes = (clause, opposed) if clause.is_denied else (opposed, clause)
    about = (no.denied & yes.stems) or (no.stems & yes.stems)
    common = len(clause.stems & opposed.stems)
    needed = common if common <= _NEEDED else common - 1
    return not about.isdisjoint(other.stems) and len(clause.stems & other.stems) >= needed


def _agrees(clause: Clause, theirs: Clause) -> bool:
    if theirs.link != clause.link and theirs.link not in _STATED:
        return False
    if theirs.is_denied == clause.is_denied or (theirs.vague and theirs.vague != clause.vague):
        return True
    return clause.is_denied and theirs.is_beside_no and theirs.vague != clause.vague


def _is_opposed(source: Source, clause: Clause, theirs: Clause) -> bool:
    """Tell whether one of two clauses denies what the other says."""
    together = len(clause.sentence & theirs.sentence)
    if {clause.link, theirs.link} == {"before", "after"}:
        has_no = clause.is_beside_no or theirs.is_beside_no
        return together >= _SENTENCE and not has_no and clause.stems == theirs.stems
    if clause.is_denied == theirs.is_denied:
        return False
    if "if" in (clause.link, theirs.link):
        is_one = clause.link == theirs.link and not (clause.is_denied and theirs.is_beside_no)
        return is_one and together >= _SENTENCE
    if clause.link != theirs.link and not {clause.link, theirs.link} <= _STATED:
        return False
    if clause.vague != theirs.vague:
        return False
    has_exception = theirs.link != "without" and theirs.exceptions - clause.links
    if has_exception and clause.stems != theirs.stems:
        return False
    new = clause.stems - source.clauses.stems
    most_new = (
        len(clause.stems) // 2 if ASIAN.search(clause.text) else len(clause.stems) > _SENTENCE
    )
    if len(new) > most_new:
        return False  # it says something else
    return _denies(clause, theirs, together)


def _denies(clause: Clause, theirs: Clause, together: int) -> bool:
    common = len(clause.stems & theirs.stems)
    least, most = sorted((len(clause.stems), len(theirs.stems)))
    if (common >= _NEEDED and common == most) or common >= max(_SENTENCE, _ALL_BUT_NO * most):
        return True
    if clause.is_denied and theirs.is_beside_no:
        return False
    no, yes = (clause, theirs) if clause.is_denied else (theirs, clause)
    if common >= max(_SENTENCE, _VERBATIM * len(no.stems)):
        return True
    if no.denied.isdisjoint(yes.stems):
        return False
    if common == most or (len(no.stems) == 1 and together >= _SENTENCE):
        return True
    if len(no.sentence) == 1 and len(yes.stems) <= _SENTENCE:
        return True
    return common >= _NEEDED and common * 2 >= least


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Return where *pattern* occurs last, -1 if nowhere."""
    return max((found.start() for found in pattern.finditer(text)), default=-1)


def _is_other_side(
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
    return is_opposed and best >= min(_NEEDED, max(1, words - 1))


GATE: Final = Gate("same_sense", _check)
