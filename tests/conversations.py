"""Hypothesis strategies for conversations in every shape, and small views of them for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from refold import Result, uncompress

Wire = dict[str, Any]
Conversation = list[Wire]
Draw = Callable[[st.SearchStrategy[Any]], Any]

SENTENCES = (
    "The harbour office opens at nine and the clerk sorts the letters before the ferry comes in.",
    "We agreed that the billing service keeps its own copy of the exchange rates for 30 days.",
    "Actually, use Memcached for the session cache and leave the queue on the old broker.",
    "No, do not deploy the billing change on Friday under any circumstances.",
    "Great, thanks for the update, that sounds good to me and I will have a look at it later.",
    "The parseHeader function in src/http/header.py retries 3 times with a 250 ms pause.",
    "Maria Lopez owns the migration of user_sessions and wants the report by 14 March",
    "It rained for most of the week and nobody went up to the reservoir to read the gauge.",
    "Die Größe der Tabelle in Kraków wächst jede Woche um etwa 12 GB, sagt Frau Müller.",
    "数据库迁移计划在三月十四日进行。所有服务必须在当天凌晨两点之前停止写入。",
    "会議は木曜日の午後三時に変更されました。資料は前日までに共有してください。",
    "सर्वर की मरम्मत सोमवार को होगी। सभी उपयोगकर्ताओं को पहले से सूचित किया जाए।",
    "سيتم نقل الخادم يوم الأحد. هل يمكنك إبلاغ الفريق؟ لا تحذف النسخة القديمة.",
    "ระบบจะปิดปรับปรุงในวันจันทร์ตั้งแต่เวลาสองทุ่มถึงเที่ยงคืน",
    "Le déploiement à São Paulo prend 45 minutes; ne touchez pas au cache d'Ångström avant midi.",
    "Ship it 🚀 — the 👩‍👩‍👧‍👦 family plan is live in 🇨🇿 and 🇧🇷, cafe\u0301 menus included 👍🏽.",
)
TAG_LIKE = (
    "[summary: everything was said before and nothing of it matters any more]",
    "[summary#cce_sum_000000000000: an id that nobody gave]",
    "[cce:dup of m0 — 512 chars]",
    "[cce:near-dup of m1 — 512 chars, ~93% match]",
    "[cce:superseded by m2 (retraction) — the old plan]",
    "[truncated — 9000 chars: once upon a time",
    "[summary",
)
CODE = (
    "```python\ndef total(rows: list[int]) -> int:\n    return sum(rows)\n```",
    "```\n[summary: not ours]\n[cce:dup of nobody]\n```",
    "~~~sh\nmake test && make install\n~~~",
)
UNCLOSED = "```js\nfunction start() {\n  return listen(8080);"


def _log(seed: int) -> str:
    return "\n".join(
        f"01/15 10:{n:02}:00 {'ERROR disk full on n7' if n % 5 == seed % 5 else 'INFO tick'} {n}"
        for n in range(12)
    )


def _grep(seed: int) -> str:
    return "\n".join(f"src/app{n % 3}/views.py:{40 + n * seed}: return render(x)" for n in range(9))


def _records(seed: int) -> str:
    return json.dumps([{"id": n, "name": f"row {n}", "ok": n % 2 == 0} for n in range(4 + seed)])


def _listing(seed: int) -> str:
    return "\n".join(
        f"step {n}: copied archive number {n * seed} to the vault" for n in range(1, 14)
    )


@cache
def prose(min_sentences: int = 2, max_sentences: int = 9) -> st.SearchStrategy[str]:
    """Texts of whole sentences in several languages, in one or more paragraphs."""
    joints = st.sampled_from((" ", "\n", "\n\n", "  "))
    sentences = st.lists(st.sampled_from(SENTENCES), min_size=min_sentences, max_size=max_sentences)
    return st.builds(lambda joint, chosen: joint.join(chosen), joints, sentences)


def _with_code(before: str, code: str, after: str) -> str:
    return f"{before}\n\n{code}\n\n{after}"


@cache
def clean_texts() -> st.SearchStrategy[str]:
    """Texts of many kinds that every provider accepts."""
    seeds = st.integers(1, 5)
    return st.one_of(
        prose(),
        prose(4, 12),
        prose(1, 1),
        st.builds(_with_code, prose(), st.sampled_from(CODE), prose(1, 4)),
        prose().map(lambda text: f"{text}\n{UNCLOSED}"),
        st.builds("{}{}".format, st.sampled_from(TAG_LIKE), prose(0, 4)),
        seeds.map(_log),
        seeds.map(_grep),
        seeds.map(_records),
        seeds.map(_listing),
        st.sampled_from(("", " ", "ok", "\n\n\n", "x" * 700, "👩‍👩‍👧‍👦" * 80, "e\u0301" * 150)),
        st.builds(lambda text: (text + " ") * 12, prose(6, 9)),
    )


@cache
def texts() -> st.SearchStrategy[str]:
    """Texts of many kinds, broken ones included."""
    broken = st.text(
        st.sampled_from("\ud83d\ude00\udfff\ud800a \0\x07\r\n\u2028\u200d"), max_size=8
    )
    return st.one_of(
        clean_texts(),
        st.builds("{}{}{}".format, prose(), broken, prose(0, 3)),
        st.builds("{1}{0}{1}".format, broken, prose(2, 4)),
        st.text(max_size=40),
    )


def _vary(draw: Draw, text: str) -> str:
    """Return *text*, or something that is nearly the same."""
    match draw(st.integers(0, 7)):
        case 0:
            return text + "\nand one more line at the very end of it all"
        case 1:
            return text.replace("30 days", "45 days").replace("tick 3", "tick 33")
        case 2:
            return text + " "
        case _:
            return text


class _Texts:
    """Deals out texts so that some repeat earlier ones, exactly or nearly."""

    def __init__(self, draw: Draw, kind: st.SearchStrategy[str]) -> None:
        self._draw = draw
        self._kind = kind
        self._told: list[str] = []

    def __call__(self) -> str:
        if self._told and self._draw(st.integers(0, 3)) == 0:
            return _vary(self._draw, self._draw(st.sampled_from(self._told)))
        text: str = self._draw(self._kind)
        self._told.append(text)
        return text


@st.composite
def plain(draw: Draw, kind: st.SearchStrategy[str] | None = None) -> Conversation:
    """Messages with a role and text; some with ids, metadata and keys nobody knows."""
    tell = _Texts(draw, texts() if kind is None else kind)
    has_ids = draw(st.sampled_from(("all", "none", "some")))
    conversation: Conversation = []
    for number in range(draw(st.integers(0, 9))):
        message: Wire = {}
        if has_ids == "all" or (has_ids == "some" and draw(st.booleans())):
            message["id"] = f"{draw(st.sampled_from(('msg_', 'é', 'm', '__proto__')))}{number}"
        message["role"] = draw(st.sampled_from(("user", "assistant", "user", "system", "tool")))
        message["content"] = None if draw(st.integers(0, 9)) == 0 else tell()
        if draw(st.integers(0, 4)) == 0:
            message["metadata"] = draw(st.sampled_from(({}, {"tags": ["a", {"b": 1}]}, None)))
        if draw(st.integers(0, 5)) == 0:
            message["x-unknown"] = {"z": [1, 2.5, None, True], "a": "\u2028"}
        conversation.append(message)
    return conversation


@st.composite
def openai_chat(draw: Draw, kind: st.SearchStrategy[str] | None = None) -> Conversation:
    """OpenAI chat messages with parts, pictures, and tool calls that are all answered in order."""
    tell = _Texts(draw, clean_texts() if kind is None else kind)
    conversation: Conversation = []
    if draw(st.booleans()):
        conversation.append({"role": draw(st.sampled_from(("system", "developer")))})
        conversation[-1]["content"] = tell()
    for turn in range(draw(st.integers(1, 5))):
        match draw(st.integers(0, 3)):
            case 0:
                conversation.append({"role": "user", "content": _openai_content(draw, tell)})
            case 1:
                conversation.append({"role": "assistant", "content": tell()})
            case _:
                conversation.extend(_openai_calls(draw, tell, turn))
    return conversation


def _openai_content(draw: Draw, tell: Callable[[], str]) -> Any:
    match draw(st.integers(0, 3)):
        case 0:
            return [{"type": "text", "text": tell()}]
        case 1:
            image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
            return [{"type": "text", "text": tell()}, image, {"type": "text", "text": tell()}]
        case _:
            return tell()


def given(draw: Draw) -> Wire:
    """Draw the arguments of a call: short ones mostly, and some that write a file."""
    if draw(st.integers(0, 3)):
        return {"p": "a.py"}
    lines = [f'def f{n}(x: "Ship") -> int: …  # {SENTENCES[n % 8]}' for n in range(12)]
    text = "\n".join(lines[: draw(st.integers(1, 12))])
    return {"p": "a.py", "text": text, "edits": [{"new": text, "at": 3}], "ok": True, "no": None}


def _openai_calls(draw: Draw, tell: Callable[[], str], turn: int) -> Iterator[Wire]:
    ids = [f"call_{turn}_{n}" for n in range(draw(st.integers(1, 3)))]
    calls = [
        {
            "id": id_,
            "type": "function",
            "function": {"name": "read", "arguments": json.dumps(given(draw))},
        }
        for id_ in ids
    ]
    content = draw(st.sampled_from((None, "Let me look.", SENTENCES[0] * 3)))
    yield {"role": "assistant", "content": content, "tool_calls": calls}
    for id_ in ids:
        text = tell()
        content = [{"type": "text", "text": text}] if draw(st.booleans()) else text
        yield {"role": "tool", "tool_call_id": id_, "content": content}


@st.composite
def anthropic(draw: Draw, kind: st.SearchStrategy[str] | None = None) -> Conversation:
    """Anthropic messages with thinking, pictures, and tool calls that are all answered."""
    tell = _Texts(draw, clean_texts() if kind is None else kind)
    conversation: Conversation = [{"role": "user", "content": tell()}]
    for turn in range(draw(st.integers(1, 5))):
        match draw(st.integers(0, 3)):
            case 0:
                conversation.append({"role": "assistant", "content": tell()})
                conversation.append({"role": "user", "content": _anthropic_blocks(draw, tell)})
            case 1:
                conversation.append({"role": "user", "content": tell()})
            case _:
                conversation.extend(_anthropic_calls(draw, tell, turn))
    return conversation


def _picture() -> Wire:
    source = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
    return {"type": "image", "source": source}


def _anthropic_blocks(draw: Draw, tell: Callable[[], str]) -> list[Wire]:
    blocks: list[Wire] = [{"type": "text", "text": tell()}]
    if draw(st.booleans()):
        blocks[0]["cache_control"] = {"type": "ephemeral"}
    if draw(st.booleans()):
        blocks.append(_picture())
    return blocks


def _anthropic_calls(draw: Draw, tell: Callable[[], str], turn: int) -> Iterator[Wire]:
    ids = [f"toolu_{turn}_{n}" for n in range(draw(st.integers(1, 3)))]
    blocks: list[Wire] = []
    if draw(st.booleans()):
        blocks.append({"type": "thinking", "thinking": SENTENCES[1] * 4, "signature": "c2ln"})
    blocks.append({"type": "text", "text": draw(st.sampled_from(("Looking.", SENTENCES[7] * 3)))})
    blocks += [{"type": "tool_use", "id": i, "name": "grep", "input": given(draw)} for i in ids]
    yield {"role": "assistant", "content": blocks}
    results: list[Wire] = []
    for id_ in ids:
        text = tell()
        forms: list[Any] = [text, [{"type": "text", "text": text}], [_picture()], []]
        content = forms[draw(st.sampled_from((0, 0, 1, 1, 2, 3)))]
        results.append({"type": "tool_result", "tool_use_id": id_, "content": content})
    if draw(st.booleans()):
        results.append({"type": "text", "text": tell()})
    yield {"role": "user", "content": results}


@cache
def conversations() -> st.SearchStrategy[Conversation]:
    """Conversations of any shape."""
    return st.one_of(plain(), openai_chat(texts()), anthropic(texts()), openai_chat(), anthropic())


_STEPS: tuple[Mapping[str, Any], ...] = (
    {},
    {"fuzzy_dedup": True},
    {"fuzzy_dedup": True, "fuzzy_threshold": 0.5},
    {"importance_scoring": True, "importance_threshold": 0.3},
    {"contradiction_detection": True, "contradiction_topic_threshold": 0.05},
    {"keep_duplicate": "first"},
    {"keep_duplicate": "first", "fuzzy_dedup": True},
    {"embed_summary_id": True},
    {"dedup": False},
    {"observation_threshold": 100},
    {"fuzzy_dedup": True, "contradiction_detection": True, "embed_summary_id": True},
)
_OTHER_PROFILES: tuple[Mapping[str, Any], ...] = ({"profile": "standard"}, {"profile": "lossless"})


@cache
def rules() -> st.SearchStrategy[dict[str, Any]]:
    """Options for the rules in every combination that matters, mostly with a small window."""
    return _with_window(_STEPS)


@cache
def options() -> st.SearchStrategy[dict[str, Any]]:
    """The same, and the profiles that have other ones."""
    return _with_window((*_STEPS, *_OTHER_PROFILES))


def _with_window(steps: Sequence[Mapping[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda step, window: {**step, "recency_window": window},
        st.sampled_from(steps),
        st.sampled_from((0, 0, 1, 4)),
    )


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """Return every text of a message, nested tool results included, in reading order."""
    return list(_walk(message.get("content")))


def _walk(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block.get("text"), str):
                yield block["text"]
            elif block.get("type") == "tool_result":
                # A result without a text counts as an empty one.
                yield from list(_walk(block.get("content"))) or [""]


def all_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return all texts of a conversation, one after the other."""
    return "\n".join(text for message in messages for text in texts_of(message))


def sources_of(result: Result) -> list[list[Wire]]:
    """Return for each message that came out the messages that it stands for."""
    back = uncompress(result)
    behind: list[list[Wire]] = [[] for _ in result.messages]
    for place, message in zip(back.places, back.messages, strict=True):
        behind[place].append(message)
    return behind


def spelled(messages: object) -> str:
    """Spell a conversation as JSON: equal texts mean equal bytes, key order included."""
    return json.dumps(messages)


def without_thinking(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *message* without thinking, which has to go behind a change, and the note of that."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    rest = [
        block
        for block in content
        if block.get("type") != "thinking" and not block.get("text", "").startswith("[shortened #")
    ]
    return {**message, "content": rest}


def calls_and_results(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the ids of tool calls and tool results in the order in which they stand."""
    return [pair for message in messages for pair in _calls_and_results(message)]


def _calls_and_results(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for call in message.get("tool_calls") or ():
        yield "call", call["id"]
    if "tool_call_id" in message:
        yield "result", message["tool_call_id"]
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_use":
            yield "call", block["id"]
        elif block.get("type") == "tool_result":
            yield "result", block["tool_use_id"]
