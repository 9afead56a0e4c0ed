"""Refuses an answer that talks around its summary: "Sure! Here is …", "Let me know if …"."""

from __future__ import annotations

import re
from typing import Final

from refold.llm.gates.base import Gate, Refusal, Source, fold, read

_DECORATION: Final = " \n\t*_#>-\"'“„«`"
_OPENING: Final = re.compile(
    "|".join(
        (
            r"(?:sure(?: thing)?|certainly|of course|absolutely|gladly|got it|understood|no "
            r"problem|my pleasure|with pleasure|happy to help)\b *(?:[!,.:;—–-]|$)",
            r"(?:ok|okay|alright|great|yes|good question)[!,.]? +(?:here|below|let me|i['’ ])",
            r"(?:here(?:'s| is| are| you go)|below (?:is|are)|the following is|this is|"
            r"find below)\b"
            r"[^.:\n]{0,40}\b(?:summar(?:y|ies)|overview|recap|digest|version|gist|rewrite)\b",
            r"here (?:you go|it is)\b|as (?:you )?requested\b|(?:tl;?dr|let me summari[sz]e)\b",
            # German, Dutch
            r"(?:gerne?|natürlich|selbstverständlich|klar|sicher|na klar|natuurlijk|"
            r"uiteraard)[!,.:]",
            r"hier (?:ist|sind|folgt|kommt|is|volgt)\b[^.:\n]{0,40}(?:zusammenfassung|überblick|"
            r"kurzfassung|samenvatting)",
            # French, Spanish, Portuguese, Italian
            r"(?:bien sûr|certainement|avec plaisir|volontiers|d'accord|claro(?: que s[ií])?|"
            r"por supuesto|desde luego|com certeza|com prazer|certo|certamente|volentieri)"
            r" ?[!,.:]",
            r"(?:voici|aqu[ií] (?:est[áa]|tienes?|vai|va)|segue|ecco)\b[^.:\n]{0,40}"
            r"(?:résumé|synthèse|resumen|resumo|riassunto|sintesi)",
            # Russian, Ukrainian, Polish, Turkish
            r"(?:конечно|разумеется|хорошо|звичайно|oczywiście|jasne|tabii(?: ki)?|"
            r"elbette) ?[!,.:]",
            r"(?:вот|ниже|ось|oto|işte)\b[^.:\n]{0,40}(?:содержание|резюме|изложение|сводк|підсумок|"
            r"podsumowanie|streszczenie|özet)",
            # Chinese, Japanese, Korean
            r"(?:当然|好的|没问题|當然|沒問題|もちろん|承知しました|はい|물론(?:입니다|이죠)?|네)[!！,，。、:：]",
            r"(?:以下是|下面是|这是)[^。：:\n]{0,16}(?:总结|摘要|概要|總結)|以下(?:は|に)[^。\n]{0,16}要約"
            r"|다음은[^.\n]{0,20}요약",
            # Hindi, Arabic
            r"(?:ज़रूर|जरूर|बिल्कुल|अवश्य)[!,।]|(?:यहाँ|यहां|यह) [^।\n]{0,24}सारांश",
            r"(?:بالتأكيد|بالطبع|حسنا)[!،,.]|إليك[^.\n]{0,24}ملخص",
        )
    )
)
_CLOSING: Final = re.compile(
    r"\b(?:(?:please )?let me know (?:if|whether|when|how)|(?:i )?hope (?:this|that|it) helps|"
    r"feel free to|would you like (?:me|to)|(?:do|did) you want me to|shall i\b|"
    r"is there anything else|if you (?:need|have|want|would like) (?:any|more|further|me)|"
    r"i can (?:also )?(?:expand|elaborate|provide|help)|happy to (?:expand|elaborate|help)|"
    r"sag(?:en sie)? mir|lass(?:en sie)? (?:es )?mich wissen|melden sie sich|"
    r"n'hésitez pas|dites-moi si|faites-moi savoir|no dudes? en|av[ií]same si|hágame saber|"
    r"espero que (?:esto|isso) ajude|me avise se|fammi sapere|laat (?:het )?me weten|"
    r"дайте (?:мне )?знать|если (?:вам )?(?:нужно|нужны|что-то)|надеюсь, это)"
    r"|(?:如果|若)(?:您|你)?(?:需要|还有|有任何)|希望(?:这|對|对)[^。\n]{0,8}(?:帮助|幫助)"
    r"|お知らせください|ご希望でしたら|알려 ?주세요|필요하시면"
)
_TAIL: Final = 240
"""A closing comes last; before, the same words are probably the source's."""


def _check(source: Source, answer: str) -> Refusal | None:
    plain = read(answer).strip()
    found = _OPENING.match(plain.lstrip(_DECORATION)) or _CLOSING.search(plain[-_TAIL:])
    if found is None or fold(found[0]) in source.reading:
        return None
    return Refusal(f"it talks around the summary: {found[0]!r}")


GATE: Final = Gate("only_summary", _check)
