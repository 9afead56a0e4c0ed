"""Refuses an answer that tells its reader what to do: a summary reports, it does not instruct.

Orders to a model are refused even if the source has them; a summary can say that it does ("the page
tells the model to …"). What is merely said to somebody is refused if the source says it to nobody.
"""

from __future__ import annotations

import re
from typing import Final

from refold.llm.gates.base import STEM_CHARS, Gate, Refusal, Source, fold, read

_BEGIN: Final = (
    r"(?:(?<![\s\S])|(?<=[.!?:;,。！？：；，、\n*>•\"“«„(\[—–-])|(?<=[.!?:;,*>•—–-] )"
    r"|(?<=please )|(?<=now )|(?<=then )|(?<=and )|(?<=must )|(?<=should )|(?<=just )|(?<=bitte ))"
)
"""Where an order begins; "told the model to ignore …" is none."""
_RULES: Final = (
    r"(?:instruction|prompt|rule|guideline|directive|polic(?:y|ies)|guardrail|restriction|"
    r"safety|constraint|system message|what (?:you|was)|everything|anything|all (?:of )?th|"
    r"previous|prior|above|earlier|context|conversation)"
)
_ORDERS: Final = re.compile(
    "|".join(
        (
            rf"{_BEGIN}(?:ignore|disregard|forget|override|bypass|discard|neglect) "
            rf"[^.\n]{{0,30}}?{_RULES}",
            rf"{_BEGIN}(?:reveal|print|output|repeat|show|leak|disclose|expose|return|display|"
            r"send|forward|exfiltrate|share) [^.\n]{0,40}?(?:system prompt|hidden prompt|"
            r"(?:your|all|the) instructions|api[ _-]keys?|passwords?|secrets?|credentials|"
            r"environment variables)",
            r"\byou are (?:now|no longer|from now on)\b|\byou(?:'re| are) (?:dan\b|an? (?:ai|"
            r"unrestricted|evil|helpful|different))",
            rf"{_BEGIN}(?:act as|pretend (?:to|that|you)|role-?play|behave (?:as|like)|"
            r"impersonate)\b",
            r"\b(?:developer|god|sudo|admin|dan|jailbreak|debug) mode (?:is )?(?:on|enabled|activ)",
            r"\bdo anything now\b|\bjailbroken\b",
            r"\b(?:new|updated|important|urgent|critical|additional|real|true|actual) "
            r"(?:system )?(?:instructions?|directives?|orders?|prompt)\b *(?:[:!]|for (?:you|the "
            r"(?:ai|assistant|model|agent)))",
            r"\b(?:note|message|instructions?|reminder|attention)[,:]? (?:to|for) "
            r"(?:the |all )?(?:assistants?|ai|ais|model|agents?|llms?|chatbot|claude|chatgpt)\b",
            r"(?:(?<![\s\S])|(?<=[.!?\n] )|(?<=\n))(?:attention |hey |dear |ok |listen,? )?"
            r"(?:assistant|ai|model|chatbot|claude|chatgpt|gpt|llm)[,!]",
            r"\byour (?:new |next |only |real |true |primary )?(?:task|job|goal|role|purpose|"
            r"mission|instructions?|priority) (?:is|are|now|will)\b",
            # German
            r"\b(?:ignoriere?|vergiss|missachte)\w* (?:bitte )?(?:alle|sämtliche|die|deine|ihre|"
            r"vorherigen|bisherigen|obigen)[^.\n]{0,30}(?:anweisung|regel|instruktion|vorgabe|"
            r"befehl)",
            r"\bdu bist (?:jetzt|nun|ab sofort)\b|\bab (?:jetzt|sofort) (?:bist|antwort|wirst|"
            r"sollst)",
            # French
            r"\b(?:ignore[zr]?|oublie[zr]?) (?:toutes? )?(?:les|tes|vos|ces)[^.\n]{0,30}"
            r"(?:instruction|consigne|règle)",
            r"\btu es (?:maintenant|désormais)\b|\bvous êtes (?:maintenant|désormais)\b",
            # Spanish, Portuguese, Italian
            r"\b(?:ignora|ignore|olvida|olvide|esqueça|dimentica|ignorare)\b[^.\n]{0,30}"
            r"(?:instrucci|instruç|istruzion|reglas|regras|regole|anterior|precedent)",
            r"\b(?:ahora eres|eres ahora|a partir de ahora|agora você é|a partir de agora|"
            r"adesso sei|d'ora in poi)\b",
            # Dutch, Polish, Turkish
            r"\b(?:negeer|vergeet) (?:alle|de|je)[^.\n]{0,30}(?:instructies|regels|opdrachten)",
            r"\b(?:zignoruj|zapomnij)\b[^.\n]{0,30}(?:instrukcj|polece|zasad)",
            r"(?:talimat|kural)[^.\n]{0,20}(?:yok say|görmezden gel|unut)",
            # Russian, Ukrainian
            r"\b(?:игнорируй|забудь|проигнорируй|ігноруй)\w*[^.\n]{0,40}(?:инструкц|указани|правил|"
            r"інструкц)|\bтеперь (?:ты|вы)\b|\bс этого момента (?:ты|вы)\b",
            # Chinese, Japanese, Korean
            r"(?:忽略|无视|忘记|忽視|無視して|忘れて)[^。\n]{0,20}(?:指令|指示|规则|規則|提示|命令)"
            r"|(?:以前|上記|これまで)[^。\n]{0,12}(?:指示|命令)[^。\n]{0,6}(?:無視|忘れ)",
            r"(?:你|您)现在是|从现在(?:开始|起)(?:你|您|，)|あなたは(?:今|これ)から|今からあなたは",
            r"(?:이전|위의|모든)[^.\n]{0,16}(?:지시|명령|규칙)[^.\n]{0,10}(?:무시|잊)|당신은 이제",
            # Hindi, Arabic
            r"(?:निर्देश|नियम)[^।\n]{0,24}(?:अनदेखा|नज़रअंदाज़|भूल)",
            r"(?:تجاهل|انس)[^.\n]{0,30}(?:التعليمات|القواعد|الأوامر)|أنت الآن",
        )
    )
)
"""Orders to a model, in whatever text."""
_HINTS: Final = re.compile(
    "|".join(
        (
            r"\bfrom now on\b|\bgoing forward, (?:always|never|you)|\bab sofort\b|\bdésormais\b|"
            r"\bс этого момента\b|从现在起|今後は",
            rf"{_BEGIN}(?:always|never|only) (?:answer|reply|respond|say|begin|start|end|include|"
            r"recommend|obey|comply|trust|agree|approve|follow|use|mention|add)\b",
            rf"{_BEGIN}(?:answer|reply|respond|say|begin|start|finish|end) (?:only |exactly |every "
            r"\w+ )?(?:with|in|as|by)\b",
            rf"{_BEGIN}(?:do not|don't|never) (?:tell|inform|mention|reveal|warn|alert|notify|ask|"
            r"show|disclose)\b",
            r"\bthe (?:assistant|model|ai|agent|chatbot|llm) (?:must|should|shall|has to|needs to|"
            r"is to|will now|can now)\b",
            rf"{_BEGIN}(?:remember|make sure|be sure|note|remind) (?:to|that you)\b",
            rf"{_BEGIN}(?:call|invoke|use|trigger) (?:the |a )?[\w.]{{1,40}} (?:tool|function|"
            rf"api)\b",
            rf"{_BEGIN}(?:call|invoke|use|trigger) the (?:tool|function)\b",
            r"\brépond(?:s|ez) (?:toujours|uniquement)|\bantworte (?:immer|nur)|"
            r"\bresponde (?:siempre|solo|sempre)|\bотвечай(?:те)? (?:всегда|только)|"
            r"(?:总是|只能|必须)(?:回答|回复)|必ず[^。\n]{0,10}(?:答え|回答)",
        )
    )
)
"""What somebody may have said to somebody: it is for the source to have said it."""
_RISKY: Final = re.compile(
    rf"{_BEGIN}(delete|drop|wipe|erase|destroy|send|transfer|wire|pay|buy|execute|download|"
    r"install|upload|e?-?mail|forward|approve|grant|disable|enable|visit|click|curl|exfiltrate|"
    r"shut|kill|reboot|restart|overwrite|deploy|publish|contact|"
    r"lösche|sende|überweise|führe|supprime[rz]?|envoie[rz]?|exécute[rz]?|borra|elimina|envía|"
    r"ejecuta|apague|envie|удали|отправь|переведи|выполни|删除|发送|执行|转账|削除|送信|実行)"
    r"(?![^\W\d_]|(?:s|ed|ing)\b)"
)
"""Orders of which somebody might act on one; the word must be the source's."""
_YOU: Final = re.compile(
    r"(?<![^\W_])(?:you|your|yours|yourself|you'(?:re|ll|ve|d)|du (?:bist|musst|sollst|kannst|"
    r"wirst|hast|darfst)|dich|dein|deine[mnrs]?|tu dois|vous|votre|vos|usted|ustedes|tú|tus|você|"
    r"vocês|seu dever|ты|тебя|тебе|твой|вы|вас|вам|ваш|ваши)"
    r"(?![^\W_])|[你您]|あなた|당신|너는"
)


def _check(source: Source, answer: str) -> Refusal | None:
    plain = read(answer).strip()
    order = _ORDERS.search(plain)
    if order is not None:
        return Refusal(f"it gives an order: {order[0]!r}")
    for hint in _HINTS.finditer(plain):
        if fold(hint[0]) not in source.reading:
            return Refusal(f"it gives an order: {hint[0]!r}")
    for risky in _RISKY.finditer(plain):
        if risky[1][:STEM_CHARS] not in source.reading:
            return Refusal(f"it gives an order that the source does not give: {risky[1]!r}")
    address = _YOU.search(plain)
    if address is not None and _YOU.search(source.reading) is None:
        return Refusal(f"it speaks to its reader: {address[0]!r}")
    return None


GATE: Final = Gate("no_instruction", _check)
