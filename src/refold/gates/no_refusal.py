"""Refuses an answer in which the model declines, or speaks of itself, instead of summarising."""

from __future__ import annotations

import re
from typing import Final

from refold.gates.base import Gate, Refusal, Source, fold

_HEAD: Final = 240
"""A refusal comes first; further on, the same words are probably the source's."""
_REFUSING: Final = re.compile(
    # "I'm sorry, but I can't", "I cannot summarise this"; "I can't log in" is a user's words.
    r"\b(?:i['’]?m|i am) (?:very |so )?(?:sorry|afraid),? (?:but )?(?:i|there|this|that|as)\b"
    r"|\bi (?:apologi[sz]e|regret)\b|\bsorry, (?:but )?i\b"
    r"|\b(?:i can(?:no|['’])t|i can not|i am not able to|i['’]m not able to|i am unable to|"
    r"i['’]m unable to|i won['’]t|i will not|unable to|cannot) (?:be able to )?(?:help|assist|"
    r"provide|summari[sz]e|comply|fulfil|complete (?:this|the|your) (?:request|task)|process (?:this|"
    r"the|your) (?:request|text)|access (?:the|any|that|this) (?:text|content|document|conversation)|"
    r"generate|create a summary|do that|answer|see (?:any|the) (?:text|content|conversation))"
    r"|\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b"
    r"|\bi['’]?(?: a)?m (?:just )?an? (?:ai|(?:large )?language model)\b"
    r"|\b(?:please|could you|can you) (?:please )?(?:provide|share|paste|send)(?: me)?(?: with)? "
    r"(?:the|your|a|more)\b(?=.{0,60}(?:text|content|conversation|document|summar))"
    r"|\bthere (?:is|was) no (?:text|content|conversation) (?:to|provided)"
    r"|\b(?:es )?tut mir leid\b|\bich kann (?:dies\w*|das|ihnen|dir|dabei|leider|den|keine)\b.{0,60}"
    r"\b(?:nicht|helfen|zusammenfass)|\bals (?:ki|künstliche intelligenz|sprachmodell)\b"
    r"|\bje suis (?:vraiment )?désolée?\b|\bje ne (?:peux|suis) pas (?:(?:en mesure|capable) )?"
    r"(?:de |d['’])?(?:vous )?(?:aider|résumer|fournir|répondre|traiter)|\bdésolée?, (?:mais )?je\b"
    r"|\ben tant qu['’](?:ia|intelligence artificielle)|\ben tant que modèle"
    r"|\blo siento\b|\bno puedo (?:ayudar|resumir|proporcionar|cumplir|procesar|responder)"
    r"|\bcomo (?:modelo de lenguaje|una? (?:ia|inteligencia artificial)|modelo de linguagem|uma ia)\b"
    r"|\b(?:sinto muito|desculpe, mas|lamento, mas)\b|\bnão posso (?:ajudar|resumir|fornecer|ajudá)"
    r"|\bmi dispiace\b|\bnon posso (?:aiutar|riassumere|fornire)|\bcome (?:ia|modello linguistico)\b"
    r"|\bhet spijt me\b|\bik kan (?:je |u )?(?:hier)?(?:niet|geen)\b.{0,30}(?:helpen|samenvat)"
    r"|извините, (?:но )?я|к сожалению, я не могу|я не могу (?:помочь|выполнить|предоставить|обобщить)"
    r"|как (?:языковая модель|искусственный интеллект)"
    r"|(?:很?抱歉|对不起|對不起)[，,]?.{0,12}(?:无法|不能|無法)|我(?:无法|不能|無法)(?:帮助|提供|总结|完成|协助|幫助|總結)"
    r"|作为(?:一个|一名)?(?:ai|人工智能|语言模型|大型语言模型)"
    r"|申し訳(?:ありません|ございません)|要約(?:することは)?できません|お手伝い(?:することは)?できません"
    r"|죄송(?:합니다|하지만)|도와드릴 수 없|मुझे खेद है|क्षमा करें|عذر[اً]+|آسف|لا (?:يمكنني|أستطيع) (?:مساعدت|تلخيص)"
)


def _check(source: Source, answer: str) -> Refusal | None:
    """Look at the opening only; words that the source says itself are a summary of it."""
    found = _REFUSING.search(fold(answer[:_HEAD]))
    if found is None or found[0] in source.folded:
        return None
    return Refusal(gate="no_refusal", why=f"the answer declines: {found[0]!r}")


GATE: Final = Gate("no_refusal", _check)
