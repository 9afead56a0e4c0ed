"""A conversation as the selection reads it: texts, their index, the open question, stale reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from refold.kinds import TABLE, KindTable
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.plan.corpus import Corpus, Text, index_texts, read_texts, voice_of
from refold.plan.item_index import Voice
from refold.plan.layout import Key
from refold.plan.open_question import find_asked, find_asking
from refold.plan.relevance import Weights, learned_relevance, talk_relevance
from refold.plan.superseded import find_superseded
from refold.scan.items import Shape, find_items, part_words, shape_of


class Conversation:
    """The texts of a conversation, and what is known of them; the expensive parts are lazy.

    What the roles in *preserve* say is shown in any case; *recoded* has re-encoded texts.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        tokens: CountedTexts,
        preserve: Container[str],
        recoded: Mapping[Key, str],
        kinds: KindTable = TABLE,
    ) -> None:
        self._preserve = preserve
        self._kinds = kinds
        self.messages: Final = messages
        self.texts: Final[list[Text]] = read_texts(messages, tokens, recoded, kinds=kinds)
        open_ = [text for text in self.texts if text.message.role not in preserve]
        has_tools = any(voice_of(text.message) is Voice.TOOL for text in open_)
        self.talk: Final = not has_tools and is_talk(text.text for text in open_)
        """Whether it is plain talk: no tools, and few values among the words."""

    @cached_property
    def preserved(self) -> int:
        """The tokens of the messages of preserved roles."""
        return sum(text.tokens for text in self.texts if text.message.role in self._preserve)

    @cached_property
    def corpus(self) -> Corpus:
        """All texts, cut into pieces and indexed."""
        return index_texts(self.texts, self._preserve, talk=self.talk, kinds=self._kinds)

    @cached_property
    def asking(self) -> frozenset[int]:
        """The messages that say what is wanted next; see `find_asking`."""
        return find_asking(self.messages)

    @cached_property
    def asked(self) -> frozenset[int]:
        """The items that these messages name, by their rows."""
        if self.talk:
            return frozenset()
        return find_asked(self.texts, self.asking, self.corpus)

    @cached_property
    def superseded(self) -> frozenset[Key]:
        """The texts that show outdated files."""
        return find_superseded(self.messages)


def item_relevance(conversation: Conversation, weights: Weights, target: int) -> list[float]:
    """Return how relevant each item is for a view of *target* tokens; 0 if it is known anyway."""
    corpus = conversation.corpus
    if conversation.talk:
        relevance = talk_relevance(corpus.stats, corpus.turns)
    else:
        room = target - conversation.preserved
        share = room / max(1, sum(turn.tokens for turn in corpus.turns))
        relevance = learned_relevance(corpus.stats, corpus.turns, weights, share)
    number = corpus.stats.number
    for item in corpus.known & number.keys():
        relevance[number[item]] = 0.0
    return relevance


_TALK_SHARE: Final = 0.14
_CJK_TALK_SHARE: Final = 0.5
"""With a smaller share of values among its items a conversation is talk. Short Chinese and Japanese
dialogues are largely prices and times."""


def is_talk(texts: Iterable[str]) -> bool:
    """Tell whether *texts* are talk: few of their items are values."""
    words: Counter[str] = Counter()
    for text in texts:
        words.update(part_words(text).split())
    times: Counter[str] = Counter()
    for word, count in words.items():
        if word.isascii() and word.isalnum():  # one item, as it is
            times[word] += count
        else:
            for item in find_items(word):
                times[item] += count
    said = values = kinds = cjk = 0
    for item, count in times.items():
        shape = shape_of(item)
        if shape is Shape.NONE:
            continue
        said += count
        kinds += 1
        cjk += shape is Shape.CJK
        if shape < Shape.WORD:
            values += count
    return values < (_CJK_TALK_SHARE if 2 * cjk > kinds else _TALK_SHARE) * max(1, said)
