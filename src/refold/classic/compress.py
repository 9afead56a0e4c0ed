"""The story of `classic`: the rules decide, neighbors merge, stand-ins replace what they shorten.

    messages ─► Run.decide (rules) ─► runs of neighbors ─► stand-ins (guard) ─► folds

Under a budget, `budget` climbs from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from refold.classic.reader import Reader, Writer
from refold.classic.rules import RULES, Rule, Run, protection
from refold.classic.stand_ins import StandIns
from refold.messages.folds import NO_TEXTS, Fold, Outcome, Plan, kept_fold
from refold.messages.message import Message
from refold.options import Depth, Options

_NO_PINS: Final[Mapping[int, str]] = MappingProxyType({})


def plan_by_rules(
    messages: Sequence[Message],
    options: Options,
    reader: Reader,
    *,
    rules: Sequence[Rule] | None = None,
    writer: Writer | None = None,
    start: int = 0,
    hidden: frozenset[int] = frozenset(),
    pinned: Mapping[int, str] = _NO_PINS,
) -> Plan:
    """Fold the messages from *start* on; earlier ones are folded, and no summary crosses there.

    The messages in *hidden* cannot be read anymore, so nothing may refer to them; those in *pinned*
    stay as they are, for the reason given.
    """
    run = Run(
        messages,
        options,
        reader,
        window=options.recency_window,
        writer=writer,
        pinned=pinned,
        hidden=hidden,
    )
    run.decide(RULES if rules is None else rules)
    folder = Folder(run)
    return tuple(
        [
            fold
            for group in folder.groups(border=start)
            if group[0].index >= start
            for fold in folder.fold(group, options.depth)
        ]
    )


class Folder:
    """Folds the messages of a run on which the rules have decided."""

    def __init__(self, run: Run) -> None:
        self.run: Final = run
        self.stand_ins: Final = StandIns(run)

    def groups(self, border: int | None = None) -> Iterator[tuple[Message, ...]]:
        """Yield neighbors that may share one summary, and all others alone.

        No group crosses *border*, the index of a message.
        """
        group: list[Message] = []
        for message in self.run.messages:
            merges = self._merges(message)
            goes_on = merges and message.index != border
            if group and not (goes_on and _same_speaker(group[0], message)):
                yield tuple(group)
                group = []
            group.append(message)
            if not merges:
                yield tuple(group)
                group = []
        if group:
            yield tuple(group)

    def _merges(self, message: Message) -> bool:
        if len(message.parts) != 1:
            return False
        verdict = self.run.verdict(self.run.of(message)[0])
        # Two tool results never merge: each answers a call of its own.
        return verdict.action == "compressed" and message.sole_part is not None

    def fold(self, group: Sequence[Message], depth: Depth) -> list[Fold]:
        """Fold a group into one summary; message by message if that is not shorter."""
        if len(group) > 1:
            texts = [message.parts[0].text for message in group]
            tag = self.stand_ins.summary(texts, group, depth)
            if tag is not None:
                share = int(len(tag) / len(group) + 0.5)
                rows = tuple(
                    [
                        (Outcome("compressed", "merged_compressed", len(text), share),)
                        for text in texts
                    ]
                )
                return [Fold(sources=tuple(group), texts={0: tag}, outcomes=rows)]
        return [self.fold_one(message, depth) for message in group]

    def fold_one(self, message: Message, depth: Depth) -> Fold:
        """Replace the texts of one message, each where that makes it shorter."""
        if not message.parts:
            return kept_fold(message, protection(self.run, message, "") or "short_content")
        texts: dict[int, str] = {}
        row: list[Outcome] = []
        for text in self.run.of(message):
            verdict = self.run.verdict(text)
            if verdict.action == "preserved":  # most of them
                row.append(Outcome("preserved", verdict.reason, len(text.text), len(text.text)))
                continue
            made = self.stand_ins.for_text(text, depth)
            chars = len(text.text)
            if made.text is not None:
                texts[text.part] = made.text
            length = chars if made.text is None else len(made.text)
            row.append(Outcome(made.action, made.reason, chars, length))
        return Fold(sources=(message,), texts=texts or NO_TEXTS, outcomes=(tuple(row),))


def _same_speaker(a: Message, b: Message) -> bool:
    return a.role == b.role and a.wire.get("name") == b.wire.get("name")
