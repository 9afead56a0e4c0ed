"""The words by which hostile and useless answers are known, and those by which languages are.

The patterns are for text as `reading_of` returns it: in small letters, without invisible ones.
"""

from __future__ import annotations

import re
from typing import Final

from refold.lazy import regex

INVISIBLE: Final = regex(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
REORDERING: Final = regex(r"[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""These hide a text or show it in another order: no summary needs them, whatever its source has."""
TALK: Final = regex(
    r"summar(?:y|i[sz])|\bcondens|\boverviews?\b|\brecap|tl;?dr|language model|\bas an ai\b|"
    r"chatbot|system prompt|\bguidelines?\b|(?:safety|usage|content|the|our|my) polic|\bclarify\b|"
    r"out of scope|\b(?:i am|i'm|we are) (?:sorry|afraid|unable|not able)|\b(?:have access to|"
    r"sorry|apologi[sz]e)\b|\b(?:decline|declining|unfortunately|regrettably|rather not|"
    r"let me know|feel free|would you like|shall i|happy to|as requested|you must|vous devez|"
    r"sie müssen|whoever reads)\b|\bcan(?:not|'t) (?:help|assist|provide|comply|fulfil)|\b(?:not|"
    r"nothing) (?:appropriate|comfortable)|\b(?:sure(?: thing)?|certainly|of course|absolutely|"
    r"gladly|no problem|great|got it|understood|alright|okay)[!,:.]|\bhere(?:'s| is| are)\b|"
    r"\bhopes? (?:this|that|it)\b|\bthe following is\b|\bthis (?:conversation|text|content|"
    r"request|message) |zusammenfass|kurzfassung|sprachmodell|\bleider\b|tut mir leid|(?:gerne?|"
    r"natürlich|selbstverständlich|kein problem)[!,.:]|\brésum|synthèse|malheureusement|"
    r"désolée?\b|bien sûr|avec plaisir|volontiers|en tant qu|\bresumen\b|\bresumir|\bresumo\b|"
    r"lo siento|lamentablemente|por supuesto|desafortunadamente|desde luego|infelizmente|"
    r"com certeza|sinto muito|riassun|purtroppo|mi dispiace|samenvat|helaas|podsumow|streszcz|"
    r"niestety|(?:claro|certo|certamente|natuurlijk|oczywiście|конечно|elbette)[!,.:]|"
    r"краткое содерж|резюм|обобщ|к сожалению|извините|підсум|на жаль|总结|總結|摘要|概括|概要|"
    r"抱歉|对不起|對不起|遗憾|遺憾|(?:当然|好的|没问题)[！!，,。]|無法提供|无法提供|恕难|请立即|"
    r"请马上|要約|申し訳|残念ながら|もちろん|承知|かしこまり|お応え|요약|죄송|유감|물론|"
    r"알겠습니다|सारांश|खेद|क्षमा करें|ज़रूर|ملخص|آسف|للأسف|بالتأكيد|بالطبع|özet|maalesef|üzgünüm"
)
FIRST_PERSON: Final = regex(
    r"(?<![\w.])I(?:['’](?:m|ve|ll|d)\b| (?=[a-z]))|(?<![^\W_])(?:(?:[Mm]y|[Mm]yself)(?= [a-z])|"
    r"[Ii]ch|[Mm]ir|[Mm]ich|[Mm]eine?[mnrs]?|[Jj]e(?= [a-z])|[Jj]['’](?=[a-zéê])|[Yy]o|"
    r"[Pp]refiero|[Nn]o puedo|[Ii]k|[Яя]|[Мм]не|[Мм]еня|[Мм]ой|[Ee]u)(?![^\W_])|我(?![们方司])|"
    r"私は|僕は|저는|제가|मैं|أنا"
)
"""Who says "I" in a summary of a text that does not is the model."""
SECOND_PERSON: Final = regex(
    r"(?<![^\W_])(?:you|your|yours|yourself|you'(?:re|ll|ve|d)|du|dich|dir|dein|deine[mnrs]?|vous|"
    r"votre|vos|usted|ustedes|tú|tus|você|vocês|ты|тебя|тебе|твой|вы|вас|вам|ваш|ваши)(?![^\W_])|"
    r"[你您]|あなた|당신"
)
_BEGIN: Final = (
    r"(?:(?<![\s\S])|(?<=[.!?:;,。！？：；，、\n*>•\"“«„(\[—–-])|(?<=[.!?:;,*>•—–-] )|(?<=please )"
    r"|(?<=kindly )|(?<=now )|(?<=then )|(?<=and )|(?<=must )|(?<=should )|(?<=bitte )|(?<=ahead )"
    r"|(?<=just )|(?<=veuillez )|(?<=have to )|(?<=请)|(?<=always )|(?<=never )|(?<=only )|"
    r"(?<=not ))"
)
"""Where an order begins; "told the model to ignore …" is none."""
ORDER: Final = regex(
    rf"{_BEGIN}(?:ignore|disregard|forget|override|bypass) [^.\n]{{0,40}}?(?:instruction|prompt|"
    r"rule|guideline|polic(?:y|ies)|everything|previous|prior|above|earlier|the rest|what )|"
    rf"{_BEGIN}(?:reveal|print|output|show|leak|disclose) [^.\n]{{0,40}}?(?:prompt|instructions)|"
    rf"{_BEGIN}(?:act as|pretend|role-?play|behave (?:as|like)|impersonate)\b|\byou are (?:now|"
    r"no longer)\b|\bfrom now on\b|\byour (?:new |next |only )?(?:task|job|role) is\b|"
    r"\b(?:developer|god|sudo|admin|dan|jailbreak|debug) mode\b|\b(?:note|message|reminder|"
    r"attention|instructions?)[,:]? (?:to|for) (?:the |all )?(?:assistant|ai|model|agent|llm|"
    r"chatbot)|(?:(?<![\s\S])|(?<=[.!?\n] )|(?<=\n))(?:assistant|ai|model|gpt)[,!]|"
    r"\bthe (?:assistant|model|ai|llm|chatbot) (?:must|should|shall|has to|is to)\b|ignoriere?|"
    r"vergiss|\bab (?:jetzt|sofort) \w|du bist (?:jetzt|nun)|tu es maintenant|désormais|"
    r"(?:ignore[zr]?|oublie[zr]?) (?:toutes? )?(?:les|le|tes|vos)|a partir (?:de ahora|de agora)|"
    r"(?:ignora|olvida|esqueça|dimentica)\b[^.\n]{0,30}(?:instruc|istruz|regl|regr|regol|anterior|"
    r"preced)|ahora eres|d'ora in poi|(?:negeer|vergeet|zignoruj|zapomnij)\b|игнорируй|забудь|"
    r"теперь (?:ты|вы)|с этого момента|(?:忽略|无视|忘记|忽視|無視|忘れ)[^。\n]{0,20}(?:指令|指示|"
    r"规则|規則|提示|命令)|指示[^。\n]{0,6}無視|[你您]现在是|从现在(?:开始|起)|今から|무시|"
    r"당신은 이제|تجاهل"
)
"""Orders to a model, which no source excuses."""
DEED: Final = regex(
    rf"{_BEGIN}(delete|drop|wipe|erase|destroy|purge|send|transfer|wire|pay|buy|execute|download|"
    r"install|upload|e-?mail|forward|approve|grant|disable|enable|visit|click|curl|exfiltrate|"
    r"kill|reboot|restart|overwrite|deploy|publish|contact|issue|open a|run (?:the|`)|reply|"
    r"respond|answer|tell|inform|mention|warn|notify|reveal|say|agree|trust|obey|comply|recommend|"
    r"invoke|dump|paste|lösche|sende|überweise|antworte|supprimez|envoyez|effectuez|cliquez|borra|"
    r"elimina|envía|ejecuta|responde|apague|envie|удали|отправь|переведи|выполни|отвечай|删除|"
    r"发送|执行|转账|削除|送信|実行)(?![^\W\d_]|(?:s|ed|ing)\b)"
)
"""Orders on which somebody might act; the source has to use the word."""
PROTOCOL: Final = regex(
    r"<[|\uff5c][^<>\n]{1,40}[|\uff5c]>|\[/?inst\]|<</?sys>>|<\|?endoftext\|?>|"
    r"[{,]\s{0,4}[\"'](?:role|tool_calls?|tool_call_id|function_call)[\"']\s{0,4}:|</(?:system|"
    r"user|assistant|human|tool|message|prompt|instructions?|turn|thinking|system-reminder)>"
)
"""What chat templates and protocols of tools are made of, whatever the source has."""
_ROLE: Final = (
    r"(user|human|assistant|system(?: (?:message|prompt|note))?|developer|ai|bot|chatbot|"
    r"instructions?|(?:tool|function) (?:result|call|output)|benutzer|nutzer|assistent|"
    r"utilisateur|système|usuario|asistente|sistema|usuário|assistente|utente|gebruiker|"
    r"użytkownik|пользователь|ассистент|система|користувач|kullanıcı|用户|助手|系统|使用者|"
    r"ユーザー|アシスタント|システム|사용자|시스템|المستخدم|المساعد|उपयोगकर्ता|सहायक)"
)
TURN: Final = regex(
    r"(?:(?<=\n)|(?<=[.!?。！？।] )|(?<=[。！？।])|(?<![\s\S]))[ \t>*_#\[(\"'-]{0,8}+"
    rf"{_ROLE}[ \t]?[\])*_\"']{{0,4}}+[ \t]?[:：]|(?:(?<=\n)|"
    rf"(?<![\s\S]))#{{1,6}}[ \t]{_ROLE}[ \t]*+(?=\n|$)"
)
MARKUP: Final = regex(
    r"(?<![\w<])</?[A-Za-z][\w:-]{0,40}(?:\s[^<>\n]{0,200})?/?>|<!--|<!\[CDATA\[|<\?xml|<!DOCTYPE|"
    r"`{3,}|~{3,}|!?\[[^\[\]\n]{0,200}\]\([^()\n]{0,400}\)|\x1b\[|&(?:[a-z]{2,8}|"
    r"#x?[0-9a-f]{1,6});"
    r"|\bjavascript:|\bdata:[a-z]{2,20}/",
    re.IGNORECASE,
)
"""Tags, comments, fences, links, terminal colours, entities. People write lists and headings."""
MIXED: Final = regex(
    r"(?<![^\W\d_])(?=[^\W\d_]*?[a-z\u00df-\u024f])(?=[^\W\d_]*?[\u0370-\u058f])[^\W\d_]++"
)
"""Words of two alphabets that look alike."""
SMALL_WORDS: Final = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the of and to is was that it for with are this be by from were has have which",
        "German": "der die und das ist nicht den von zu mit sich des auf für dem ein eine wird",
        "French": "le les et des est une que dans pour pas sur qui avec au du sont cette il nous",
        "Spanish": "el los y las del una por con para es se lo como más está pero sus fue son hay",
        "Portuguese": "o os e do da em um uma não com para dos das mais foi são ao pelo ele isso",
        "Italian": "il di che è per non una sono con della del gli dei alla nel le anche più",
        "Dutch": "de het een van en is dat niet te op zijn voor met wordt er aan ook door naar bij",
        "Polish": "w na się nie jest że do z to jak po są dla przez od ale tego tym przed oraz",
        "Swedish": "och att det som på är av för den med inte till ett har om kan var från eller",
        "Turkish": "ve bir bu için ile da de olarak daha çok olan gibi ne değil var kadar sonra",
    }.items()
}
LATIN: Final = regex(r"(?<![\w./\\@=`$-])[a-z\u00df-\u024f]++(?![\w/\\@=`(]|[.:-]\w)")
ASIAN: Final = regex(r"CJK|HIRAGANA|KATAKANA|IDEOGRAPHIC|HANGUL|BOPOMOFO|HALFWIDTH")
