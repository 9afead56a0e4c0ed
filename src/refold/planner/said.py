"""What a conversation says, and what is asked about: read once, whatever is shown for a budget."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from refold.model.message import Message
from refold.planner.asked import find_asked, find_asking
from refold.planner.field import Field, Text, read_texts, survey_field, voice_of
from refold.planner.file_calls import CallEffects
from refold.planner.layout import Key
from refold.planner.superseded import find_superseded
from refold.planner.survey import Voice
from refold.planner.talk import is_talk
from refold.tokens.base import CountedTexts


@dataclass(frozen=True, slots=True)
class Said:
    """The texts of a conversation, and what is known of them."""

    messages: Sequence[Message]
    texts: list[Text]
    preserved: int
    """The tokens of what the preserved roles say."""
    talk: bool
    """Whether it is plain talk: nobody works with tools."""
    field: Field
    asking: frozenset[int]
    """The messages that say what is wanted next."""
    asked: frozenset[int]
    """The rows of what they name."""
    superseded: frozenset[Key]
    """The texts that show files as they are no longer."""


def read_said(
    messages: Sequence[Message],
    tokens: CountedTexts,
    preserve: Container[str],
    recoded: Mapping[Key, str],
) -> Said:
    """Read *messages*; what the roles in *preserve* say is known, *recoded* is said shorter."""
    effects = CallEffects()
    texts = read_texts(messages, tokens, recoded, effects)
    open_ = [text for text in texts if text.message.role not in preserve]
    has_tools = any(voice_of(text.message) is Voice.TOOL for text in open_)
    talk = not has_tools and is_talk(text.text for text in open_)
    field = survey_field(texts, preserve, talk=talk)
    asking = find_asking(messages)
    return Said(
        messages=messages,
        texts=texts,
        preserved=sum(text.tokens for text in texts if text.message.role in preserve),
        talk=talk,
        field=field,
        asking=asking,
        asked=frozenset() if talk else find_asked(texts, asking, field),
        superseded=find_superseded(messages, effects),
    )
