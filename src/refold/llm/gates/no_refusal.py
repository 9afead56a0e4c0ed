"""Refuses an answer in which the model declines, or speaks of itself, instead of summarising."""

from __future__ import annotations

import re
from typing import Final

from refold.llm.gates.base import Gate, Refusal, Source, fold, read

_HEAD: Final = 240
"""A refusal comes first; further on, the same words are probably the source's."""
_REST: Final = re.compile(r"[^.!?;\n。！？]{0,80}")
"""What follows in the sentence of a refusal, which must be the source's as well to be its own: a
conversation in which somebody declined does not excuse a model that does."""
_REFUSING: Final = re.compile(
    "|".join(
        (
            # English; "I can't log in" may be a user's words, so the verb must be a model's.
            r"\b(?:i['’]?m|i am) (?:very |so )?(?:sorry|afraid),? (?:but )?(?:i|there|this|as)\b",
            r"\bi (?:apologi[sz]e|regret)\b|\bsorry, (?:but )?i\b",
            r"\b(?:i can(?:no|['’])t|i can not|i(?:['’]m| am) (?:not able|unable) to|i won['’]t|"
            r"i will not|unable to|cannot) (?:help|assist|provide|summari[sz]e|comply|fulfil|"
            r"do that|generate|create a summary|answer|(?:complete|process|access|see) "
            r"(?:the|this|that|your|any) (?:request|task|text|content|document|conversation))",
            r"\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b",
            r"\bi(?:['’]m| am) (?:just )?an? (?:ai|(?:large )?language model)\b",
            r"\b(?:please|could you|can you) (?:please )?(?:provide|share|paste|send) "
            r"(?:me )?(?:with )?(?:the|your|more)\b"
            r"(?=.{0,60}(?:text|content|conversation|document|summar))",
            r"\bthere (?:is|was|isn't) (?:no|not any|any) (?:text|content|conversation|message)s? "
            r"(?:to|provided|here)",
            r"\b(?:no|not enough|insufficient) (?:text|content|context|information|input) "
            r"(?:was |is |has been )?(?:provided|given|supplied|available|to summari[sz]e)",
            r"\bno summary (?:is |was |can be |could be )?(?:available|possible|provided|given|"
            r"made|produced|generated)",
            r"\b(?:summary|summari[sz]ation|summari[sz]ing) (?:is |was |has been )?"
            r"(?:unavailable|not available|not possible|declined|refused|denied|blocked|withheld|"
            r"removed|flagged|redacted|filtered)",
            r"\b(?:this|your) (?:request|content|text|message|prompt|input|material) "
            r"(?:cannot|can't|can not|could not|couldn't|may not|must not|will not|won't|violates|"
            r"is (?:not allowed|against|too|inappropriate|harmful|unsafe|not something))",
            r"\b(?:must|have to|need to|will|would|going to) (?:respectfully |politely "
            r")?(?:decline|refuse|pass on)\b|\b(?:respectfully|politely) declin",
            r"\b(?:against|violat\w{1,5}|per|due to|under) (?:my|our|the) (?:\w{1,12} "
            r")?(?:guidelines|polic(?:y|ies)|programming|rules|terms)",
            r"\bnot (?:something|a thing) (?:i|we) (?:can|am|are|will)\b|\b(?:i|we)(?:'d| would) "
            r"(?:rather|prefer) not\b|\b(?:i|we) (?:do not|don't|cannot|can't|am not|are not|"
            r"aren't|won't|shouldn't|should not) (?:feel |be )?(?:comfortable|able|allowed|"
            r"permitted|going|think i|have (?:access|enough|the (?:ability|text|content))|see "
            r"(?:any|the|a)|understand|know (?:what|how))",
            r"\b(?:we|it) (?:is|are|was|were) (?:not possible|impossible|unable) (?:for (?:me|us) "
            r")?to (?:help|assist|provide|summari[sz]e|comply|process|complete|produce|generate)",
            r"\b(?:unfortunately|regrettably|apologies),? (?:but )?(?:i|we|no summary|it is not|"
            r"this (?:text|request|content))\b",
            r"\b(?:error|failed|failure): (?:unable|cannot|could not|failed) to (?:summari[sz]e|"
            r"process|"
            r"generate)|[\[<(](?:content|response|answer) (?:filtered|blocked|removed|withheld)\b",
            r"\b(?:will not|won't|cannot|can not|can't) be (?:summari[sz]ed|condensed|shortened)\b",
            r"\bout of scope for (?:me|us)\b|\bsummari[sz]ing (?:this|that|it) (?:is|would)\b",
            r"\bcould you (?:please )?clarify\b|\bwhat would you like\b|\bhow can i help\b",
            # German
            r"\btut mir leid\b|\bals (?:ki|künstliche intelligenz|sprachmodell)\b",
            r"\bich kann\b.{0,60}\bnicht (?:helfen|zusammenfassen|beantworten|bereitstellen)",
            r"\bleider (?:kann|ist es|darf|bin|habe) (?:ich|mir)|\b(?:ist|es ist) mir (?:leider )?"
            r"nicht möglich|\bdiese anfrage (?:kann|muss|wird)|\bkeine zusammenfassung möglich",
            # French
            r"\bje suis (?:vraiment )?désolée?\b|\bdésolée?, (?:mais )?je\b|\ben tant qu['’]ia\b",
            r"\bje ne (?:peux|suis) pas (?:(?:en mesure|capable) )?(?:de |d['’])?(?:vous )?"
            r"(?:aider|résumer|fournir|répondre|traiter)|\ben tant que modèle",
            r"\bil m'est impossible|\bmalheureusement,? (?:je|il)|\bcette demande ne peut",
            # Spanish, Portuguese, Italian, Dutch
            r"\blo siento\b|\bno puedo (?:ayudar|resumir|proporcionar|cumplir|procesar|responder)",
            r"\bcomo (?:modelo de lenguaje|una? (?:ia|inteligencia artificial)|uma ia)\b",
            r"\b(?:sinto muito|desculpe, mas|lamento, mas)\b|\bnão posso (?:ajud|resumir|fornecer)",
            r"\bmi dispiace\b|\bnon posso (?:aiutar|riassumere|fornire)|\bcome modello ling",
            r"\b(?:lamentablemente|infelizmente|purtroppo|desafortunadamente)\b,? (?:no|não|non)\b",
            r"\b(?:no me es posible|não me é possível|non mi è possibile)\b|\besta solicitud no",
            r"\bhet spijt me\b|\bik kan\b.{0,30}\b(?:niet|geen)\b.{0,30}(?:helpen|samenvat)",
            # Russian
            r"извините, (?:но )?я|к сожалению, я не могу|как языковая модель",
            r"я не могу (?:помочь|выполнить|предоставить|обобщить)|как искусственный интеллект",
            r"к сожалению,? (?:этот|это|запрос)|не представляется возможным|вынужден отказать",
            # Chinese, Japanese, Korean
            r"(?:抱歉|对不起|對不起)[，,]?.{0,12}(?:无法|不能|無法)",
            r"我(?:无法|不能|無法)(?:帮助|提供|总结|完成|协助|幫助|總結)",
            r"作为(?:一个|一名)?(?:ai|人工智能|语言模型|大型语言模型)",
            r"(?:很遗憾|遗憾的是|无法处理|不便)[^。]{0,12}(?:无法|不能|请求|提供|总结)|该(?:请求|内容)(?:无法|不能|违反)",
            r"申し訳(?:ありません|ございません)|(?:要約|お手伝い)(?:することは)?できません",
            r"(?:ご要望|リクエスト)[^。]{0,12}(?:お応え|対応)(?:でき|いたしかね)|残念ながら",
            r"죄송(?:합니다|하지만)|도와드릴 수 없|요약할 수 없|유감스럽지만",
            # Hindi, Arabic
            r"मुझे खेद है|क्षमा करें",
            r"عذر[اً]+|آسف|لا (?:يمكنني|أستطيع) (?:مساعدت|تلخيص)|للأسف",
        )
    )
)
_I: Final = re.compile(
    r"(?<![\w.])I(?:['’](?:m|ve|ll|d)\b| (?=[a-z]))|(?<![^\W_])(?:(?:[Mm]y|[Mm]yself)(?= [a-z])"
    r"|[Ii]ch|[Mm]ir|[Mm]ich|[Mm]eine?[mnrs]?|[Jj]e (?:ne|suis|peux|vais|dois|n['’])|[Yy]o|[Ii]k "
    r"(?:kan|ben|heb|zal)|[Ээ]то мне|[Яя]|[Мм]не|[Мм]еня|[Мм]ой|eu (?:não|sou|posso))(?![^\W_])"
    r"|我(?![们方司])|私は|僕は|저는|제가|मैं|أنا|لا أستطيع"
)
"""Whoever says "I" in a summary of a text that does not is the model."""


def _check(source: Source, answer: str) -> Refusal | None:
    """Look for refusals in the opening; words that the source says itself are a summary of it."""
    opening = fold(read(answer[:_HEAD]))
    found = _REFUSING.search(opening)
    if found is not None and _sentence(opening, found) not in source.reading:
        return Refusal(f"the answer declines: {found[0]!r}")
    me = _I.search(answer)
    if me is not None and _I.search(source.text) is None:
        return Refusal(f"it speaks of itself: {me[0]!r}")
    return None


def _sentence(opening: str, found: re.Match[str]) -> str:
    """Return the words of a refusal with the rest of its sentence."""
    rest = _REST.match(opening, found.end())
    return fold(found[0] + (rest[0] if rest is not None else ""))


GATE: Final = Gate("no_refusal", _check)
