"""Refuses an answer in which the model declines, or speaks of itself, instead of summarising."""

from __future__ import annotations

import re
from typing import Final

from refold.gates.base import Gate, Refusal, Source, fold

_HEAD: Final = 240
"""A refusal comes first; further on, the same words are probably the source's."""
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
            r"\bthere (?:is|was) no (?:text|content|conversation) (?:to|provided)",
            # German
            r"\btut mir leid\b|\bals (?:ki|künstliche intelligenz|sprachmodell)\b",
            r"\bich kann\b.{0,60}\bnicht (?:helfen|zusammenfassen|beantworten|bereitstellen)",
            # French
            r"\bje suis (?:vraiment )?désolée?\b|\bdésolée?, (?:mais )?je\b|\ben tant qu['’]ia\b",
            r"\bje ne (?:peux|suis) pas (?:(?:en mesure|capable) )?(?:de |d['’])?(?:vous )?"
            r"(?:aider|résumer|fournir|répondre|traiter)|\ben tant que modèle",
            # Spanish, Portuguese, Italian, Dutch
            r"\blo siento\b|\bno puedo (?:ayudar|resumir|proporcionar|cumplir|procesar|responder)",
            r"\bcomo (?:modelo de lenguaje|una? (?:ia|inteligencia artificial)|uma ia)\b",
            r"\b(?:sinto muito|desculpe, mas|lamento, mas)\b|\bnão posso (?:ajud|resumir|fornecer)",
            r"\bmi dispiace\b|\bnon posso (?:aiutar|riassumere|fornire)|\bcome modello ling",
            r"\bhet spijt me\b|\bik kan\b.{0,30}\b(?:niet|geen)\b.{0,30}(?:helpen|samenvat)",
            # Russian
            r"извините, (?:но )?я|к сожалению, я не могу|как языковая модель",
            r"я не могу (?:помочь|выполнить|предоставить|обобщить)|как искусственный интеллект",
            # Chinese, Japanese, Korean
            r"(?:抱歉|对不起|對不起)[，,]?.{0,12}(?:无法|不能|無法)",
            r"我(?:无法|不能|無法)(?:帮助|提供|总结|完成|协助|幫助|總結)",
            r"作为(?:一个|一名)?(?:ai|人工智能|语言模型|大型语言模型)",
            r"申し訳(?:ありません|ございません)|(?:要約|お手伝い)(?:することは)?できません",
            r"죄송(?:합니다|하지만)|도와드릴 수 없",
            # Hindi, Arabic
            r"मुझे खेद है|क्षमा करें",
            r"عذر[اً]+|آسف|لا (?:يمكنني|أستطيع) (?:مساعدت|تلخيص)",
        )
    )
)


def _check(source: Source, answer: str) -> Refusal | None:
    """Look at the opening only; words that the source says itself are a summary of it."""
    found = _REFUSING.search(fold(answer[:_HEAD]))
    if found is None or found[0] in source.folded:
        return None
    return Refusal(gate="no_refusal", why=f"the answer declines: {found[0]!r}")


GATE: Final = Gate("no_refusal", _check)
