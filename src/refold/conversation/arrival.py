"""Respelling on arrival: a result is written shorter without loss once, before it is first sent."""

from __future__ import annotations

from refold.fold.whole import Speller
from refold.messages.folds import Fold, kept_fold
from refold.messages.message import Message
from refold.messages.untouchable import reason_to_stay
from refold.options import Options
from refold.text_cache import TextCache


class Arrival:
    """Spells the messages of one conversation as they come, and knows what a reader has seen."""

    def __init__(self, options: Options, text_cache: TextCache) -> None:
        self._options = options
        self._speller = Speller(text_cache.tokens, text_cache.codecs, is_quoted=True)

    def spell(self, message: Message) -> Fold:
        """Return how the next message is sent."""
        why = reason_to_stay(message, self._options)
        if not why and self._options.profile == "classic":
            why = "not_folded_yet"
        if not why:
            return self._speller.spell(message)
        fold = kept_fold(message, why)
        self._speller.note(message, fold)
        return fold

    def note(self, message: Message, sent: Message) -> None:
        """Note that the next message was *sent* in a form that loses nothing."""
        texts = {number: part.text for number, part in enumerate(sent.parts)}
        self._speller.note(message, Fold(sources=(message,), texts=texts))
