"""Refuses an answer that reads like another turn of the conversation, or ends its own."""

from __future__ import annotations

import re
from typing import Final

from refold.llm.gates.base import Gate, Refusal, Source, read

_TOKEN: Final = re.compile(
    r"<[|\uff5c][\w ▁/-]{1,40}[|\uff5c]>|\[/?inst\]|<</?sys>>|</?s>|<(?:bos|eos|pad|unk)>"
    r"|</?(?:start|end)_of_(?:turn|text|image)>|<\|?endoftext\|?>"
    r"|(?P<tag><)/?(?:system|user|assistant|human|developer|tool|function|ai|bot|message|messages|prompt|"
    r"instructions?|turn|thinking|thought|tool_use|tool_calls?|tool_results?|tool_response|"
    r"function_calls?|function_results?|invoke|parameter|system[-_]reminder|output|context|"
    r"conversation|antml:[a-z_]{1,30})(?:\s[^<>\n]{0,120})?/?>"
    r"|[{,]\s{0,4}[\"'](?:role|tool_calls?|tool_call_id|function_call)[\"']\s{0,4}:"
    r"|\"type\"\s{0,4}:\s{0,4}\"(?:tool_use|tool_result|function_call|function)\""
    r"|(?<!-)-{2,}+\s?(?:begin|end|start)\b[^\n]{0,30}(?:system|prompt|instruction|conversation|message)"
)
"""What chat templates and protocols of tools are made of. An opening tag may be a placeholder."""
_ROLE: Final = (
    r"(?:user|human|assistant|system(?: (?:message|prompt|note))?|developer|ai|bot|chatbot|"
    r"(?:tool|function) (?:result|call|output)|chatgpt|claude|gemini|instructions?|"
    r"benutzer|nutzer|assistent|utilisateur|systeme|système|usuario|asistente|sistema|usuário|"
    r"utilizador|assistente|utente|gebruiker|użytkownik|asystent|пользователь|ассистент|система|"
    r"користувач|kullanıcı|asistan|用户|助手|系统|使用者|ユーザー|アシスタント|システム|사용자|"
    r"어시스턴트|시스템|المستخدم|المساعد|النظام|उपयोगकर्ता|सहायक|सिस्टम)"
)
_LABEL: Final = re.compile(
    rf"(?:(?<=\n)|(?<=[.!?。！？।] )|(?<=[。！？।])|(?<![\s\S]))"
    rf"[ \t>*_#\[(\"'-]{{0,8}}+({_ROLE})[ \t]?[\])*_\"']{{0,4}}+[ \t]?[:：]"
    rf"|(?:(?<=\n)|(?<![\s\S]))#{{1,6}}[ \t]+({_ROLE})[ \t]*+(?=\n|$)"
)
"""A name of a role where a turn would begin: at the start, on a new line, after a sentence."""


def _check(source: Source, answer: str) -> Refusal | None:
    """Names of roles may be labels of the source; what only templates are made of never may."""
    plain = read(answer).strip()
    for token in _TOKEN.finditer(plain):
        is_placeholder = token["tag"] and token[0][1] != "/" and token[0] in source.reading
        if not is_placeholder:
            return Refusal(f"it has marks of a chat protocol: {token[0]!r}")
    for label in _LABEL.finditer(plain):
        role = label[1] or label[2]
        if f"{role}:" not in source.reading and f"{role}：" not in source.reading:
            return Refusal(f"it reads like a turn of the {role}")
    return None


GATE: Final = Gate("no_turn", _check)
