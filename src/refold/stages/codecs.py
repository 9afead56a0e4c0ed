"""Re-encoding each text once, however often the conversation it belongs to is looked at."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from refold.lossless import Codec, CodecTable, Reencoded


class CachedCodecTable(CodecTable):
    """A table that keeps what it made of a text; whoever uses it counts in one way.

    What a tool returned stays in view for many turns, and each of them would try again.
    """

    def __init__(self, table: CodecTable) -> None:
        super().__init__(table.codecs)
        self._known: dict[tuple[str, tuple[str, ...]], Reencoded | None] = {}

    def reencode(
        self, text: str, count: Callable[[str], int], codecs: Sequence[Codec] | None = None
    ) -> Reencoded | None:
        """Say *text* in fewer tokens, as it was said before if it was."""
        key = text, tuple([codec.name for codec in (self.codecs if codecs is None else codecs)])
        if key not in self._known:
            self._known[key] = super().reencode(text, count, codecs)
        return self._known[key]

    def forget(self) -> None:
        """Forget everything: the counter has learned."""
        self._known.clear()

    def keep_only(self, texts: Container[str]) -> None:
        """Forget what was made of all other texts."""
        self._known = {key: made for key, made in self._known.items() if key[0] in texts}
