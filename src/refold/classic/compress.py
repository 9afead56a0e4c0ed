"""The story of `classic`: the rules decide, neighbors merge, stand-ins replace what they shorten.

    messages ─► Run.decide (rules) ─► runs of neighbors ─► stand-ins (guard) ─► folds

Under a budget, `budget` climbs from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from refold.classic.rules import Rule, Run, protection
from refold.classic.stand_ins import StandIns
from refold.messages.folds import Fold, Outcome, Plan, kept_fold
from refold.messages.message import Message
from refold.options import Depth

_WITHOUT_SUMMARY: Final = frozenset({"preserved", "deduped", "fuzzy_deduped"})
_FAMILIES: Final = {"compressed": "single", "contradicted": "contradiction"}
"""What stand-ins that are not used are called in the trace, if not by their action."""


def plan_by_rules(run: Run, rules: Sequence[Rule]) -> Plan:
    """Fold a conversation as the rules decide."""
    run.decide(rules)
    folder, depth = Folder(run), run.options.depth
    return tuple([fold for group in folder.groups() for fold in folder.fold(group, depth)])


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
        for message, texts in zip(self.run.messages, self.run.by_message, strict=True):
            # Two tool results never merge: each answers a call of its own.
            merges = (
                len(texts) == 1
                and (verdict := texts[0].verdict) is not None
                and verdict.action == "compressed"
                and message.sole_part is not None
            )
            goes_on = merges and message.index != border
            if group and not (goes_on and _same_speaker(group[0], message)):
                yield tuple(group)
                group = []
            if merges:
                group.append(message)
            else:
                yield (message,)
        if group:
            yield tuple(group)

    def fold(self, group: Sequence[Message], depth: Depth) -> list[Fold]:
        """Fold a group into one summary; message by message if that is not shorter."""
        if len(group) > 1:
            texts = [message.parts[0].text for message in group]
            tag = self.stand_ins.summary(texts, group, depth)
            if tag is not None:
                share = int(len(tag) / len(group) + 0.5)
                merged = [Outcome("compressed", "merged_compressed", len(t), share) for t in texts]
                rows = tuple([(outcome,) for outcome in merged])
                return [Fold(sources=tuple(group), texts={0: tag}, outcomes=rows)]
        return [self._fold_one(message, depth) for message in group]

    def is_fixed(self, message: Message) -> bool:
        """Tell whether *message* is folded alike at every depth: no text of it is summarized."""
        verdicts = [text.verdict for text in self.run.by_message[message.index]]
        return all(v is not None and v.action in _WITHOUT_SUMMARY for v in verdicts)

    def _fold_one(self, message: Message, depth: Depth) -> Fold:
        """Replace the texts of one message, each where that makes it shorter."""
        if not message.parts:
            return kept_fold(message, protection(self.run, message, "") or "short_content")
        texts: dict[int, str] = {}
        row: list[Outcome] = []
        for text in self.run.by_message[message.index]:
            verdict, chars = text.verdict, len(text.text)
            assert verdict is not None, "every text is decided on"
            action, reason, shown = verdict.action, verdict.reason, chars
            if action != "preserved":  # few
                tag = self.stand_ins.for_text(text, verdict, depth)
                if tag is None:
                    reason = f"{_FAMILIES.get(action, action)}_reverted"
                    action = "preserved"
                else:
                    texts[text.part], shown = tag, len(tag)
            row.append(Outcome(action, reason, chars, shown))
        return Fold(sources=(message,), texts=texts, outcomes=(tuple(row),))


def _same_speaker(a: Message, b: Message) -> bool:
    return a.role == b.role and a.wire.get("name") == b.wire.get("name")
