"""Refuses an answer that names somebody or something that its source does not name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.llm.gates._languages import FUNCTION_WORDS, may_be_german
from refold.llm.gates._names import TITLED
from refold.llm.gates.base import WORD, Gate, Refusal, Source, some
from refold.scan.facts import UNITS, find_no
from refold.scan.patterns import LOWER, UPPER

_NAME: Final = re.compile(
    rf"(?<![\w])(?:(?P<caps>[A-Z]{{2,20}}(?![\w]))"
    rf"|[{UPPER}][{LOWER}]++(?:['’]?[{UPPER}][{LOWER}]++)*+"
    rf"(?:[ -](?:(?:van|von|de|der|da|di|la|el|al|bin|of) )?[{UPPER}][{LOWER}]++)*+(?P<more>\w?+))"
)
"""Capitals, or capitalized words in a row; with *more* the last one is not over, and it is none."""
_DOES: Final = re.compile(
    r"(?:['’]s)?(?: from \w+)? (?:said|says|say|asked|asks|told|tells|wrote|writes|confirmed|"
    r"confirms|approved|"
    r"approves|decided|decides|agreed|agrees|reported|reports|wants|wanted|suggested|suggests|"
    r"noted|notes|promised|promises|insisted|signed|emailed|called|replied|thinks|believes|"
    r"requested|requests|complained|mentioned|explained|claims|claimed|owns|leads|will (?:look|"
    r"review|handle|fix|send|take)|hat (?:gesagt|zugestimmt|bestätigt|entschieden|genehmigt|"
    r"gebeten)|sagte|sagt|meint|bat|genehmigte|bestätigte|entschied|a (?:dit|demandé|confirmé|"
    r"approuvé|décidé|signé)|dit que|dijo|dice|pidió|confirmó|aprobó|decidió|disse|pediu|"
    r"confirmou|aprovou|ha (?:detto|chiesto|confermato|approvato)|сказал[аи]?|попросил[аи]?|"
    r"подтвердил[аи]?|одобрил[аи]?|решил[аи]?)(?![^\W_])"
)
"""What only somebody does: the word before it is a name, also where a sentence begins."""
_ANYBODY: Final = frozenset(
    "user users assistant agent customer customers client clients team manager developer operator "
    "admin author somebody someone everyone everybody nobody people he she they it we who which "
    "staff support engineer engineers company reviewer owner speaker caller message text page "
    "document report mail email letter note system tool bot der die das er sie es kunde kundin "
    "nutzer benutzer jemand niemand alle team bericht il elle on ils elles client utilisateur "
    "équipe el ella ellos cliente usuario equipo lui lei loro utente ele ela eles cliente usuário "
    "equipe он она они пользователь клиент команда".split()
)
_USUAL: Final = frozenset(
    "id ids url urls db dbs pr prs ui ux os pc cpu ram api apis ok todo tbd eta wip fyi asap aka "
    "eg "
    "ie vs etc na no faq re qa ci cd ip dns http https sql json csv pdf ii iii iv vi am pm dr "
    "dra prof "
    "reasoning vars guardrails goal constraints done decisions open errors files facts summary "
    "status next steps context user assistant agent customer internet english i".split()
)
"""Abbreviations that need no source, and the headings that our own prompts ask for."""
_BEGINNINGS: Final = '.!?:;…。！？\n\r\t*#>|•–—-"“«„'
"""After these a word may have its capital from its place."""
_STEM: Final = 5
"""Words that begin with the same letters are forms of one word; endings are behind that."""
_PAIR: Final = 2
"""A word that begins a sentence and its noun are no name where all nouns are written large."""
_SHORT: Final = (3, 4)
"""Letters of an abbreviation: Oct, Sept."""


def _check(source: Source, answer: str) -> Refusal | None:
    new = list(dict.fromkeys(_new_names(source, answer)))
    if not new:
        return None
    return Refusal(gate="known_names", why=f"the source does not name {some(new)}")


def _new_names(source: Source, answer: str) -> Iterator[str]:
    for found in TITLED.finditer(answer):
        name = next(filter(None, found.groups()))
        if name.casefold() not in source.words and name not in source.text:
            yield name
    knows = _Known(source)
    has_large_nouns = may_be_german(source.text)
    for found in _NAME.finditer(answer):
        words = [] if found["more"] else WORD.findall(found[0])
        if words and words[0].casefold() in FUNCTION_WORDS and _may_begin(answer, found.start()):
            del words[0]
        unknown = [word for word in words if not knows(word)]
        if not unknown:
            continue
        if found["caps"]:
            is_name = True
        elif _may_begin(answer, found.start()):
            if has_large_nouns and len(words) == _PAIR:
                continue  # a word that begins, and its noun
            is_one = len(words) == 1 and words[0].casefold() not in _ANYBODY
            is_name = unknown != words[:1] or (is_one and _does(answer, found.end()))
        else:
            is_name = not has_large_nouns or (len(words) > 1 and len(unknown) == len(words))
        if is_name:
            yield found[0]


def _may_begin(text: str, place: int) -> bool:
    """Tell whether a sentence, a line or a quotation may begin there."""
    before = text[max(0, place - 3) : place].rstrip(" ")
    return not before or before[-1] in _BEGINNINGS


def _does(text: str, place: int) -> bool:
    return _DOES.match(text, place) is not None


class _Known:
    """Tells whether a source has a word: a name as it is, another word in any form."""

    def __init__(self, source: Source) -> None:
        self._words = source.words
        self._short = {
            word[:cut].casefold()
            for word in source.spelled
            if word[:1].isupper() and len(word) > max(_SHORT)
            for cut in _SHORT
        }
        """How the names of months, days and departments are cut short."""
        self._stems = {word[:_STEM] for word in source.spelled if word[:1].islower()}
        self._forms = source.words | {
            word[:-cut]
            for word in source.words
            if not word.isascii() and len(word) > _STEM
            for cut in (1, 2, 3)
        }

    def __call__(self, word: str) -> bool:
        folded = word.casefold()
        if any(folded in known for known in (self._words, _USUAL, FUNCTION_WORDS, UNITS)):
            return True
        if folded[:_STEM] in self._stems or not self._words.isdisjoint(
            (folded.removesuffix("s"), f"{folded}s")
        ):
            return True
        if folded in self._short:
            return True
        if not word.isascii() and any(folded[: -cut or None] in self._forms for cut in range(4)):
            return True
        return bool(find_no(folded))


GATE: Final = Gate("known_names", _check)
