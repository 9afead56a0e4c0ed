"""The report: what a fold keeps and drops, shown to people.

| module | what it has |
|---|---|
| `story`, `turns` | what happened to each text, and the folded conversation message by message |
| `changes`, `pieces` | what of a text is kept and what is dropped, and the words for it |
| `text` | a fold as plain text: the conversation as a model reads it, and why |
| `data` | the page: its data, and how it is put together |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from refold.options import Options
    from refold.stores.base import Store

__all__ = ["STEPS", "render", "render_view"]

STEPS: Final = (100, 70, 50, 30, 15)
"""Percent of the tokens; at 100 there is no budget."""


def render(
    messages: Sequence[Any],
    options: Options | None = None,
    *,
    title: str = "Conversation",
    steps: Sequence[int] = STEPS,
    store: Store | None = None,
    conversation: str | None = None,
    **choices: Any,
) -> str:
    """Return one HTML page that shows what a fold of *messages* keeps, drops, and why.

    It needs no network, and no markup in a message is ever taken for markup. *steps* are the shares
    of the tokens, in percent, between which a reader can choose; at 100 there is no budget. With a
    `token_budget` the page opens there. Originals go to *store*, if there is one; nothing else is
    written. *options* and *choices* are those of `Compressor`.
    """
    # Imported here: every command of the command line uses some module of this package.
    from refold.choices import combine
    from refold.messages.formats.objects import Objects
    from refold.report.data import ReportBuilder, make_page

    wires = Objects().read(messages)
    builder = ReportBuilder(wires, combine(options, choices), store, conversation)
    return make_page(title, {"title": title, **builder.fold(steps)})


def render_view(
    messages: Sequence[Mapping[str, Any]],
    view: Sequence[Mapping[str, Any]],
    places: Sequence[range],
    *,
    title: str = "Conversation",
    **choices: Any,
) -> str:
    """Return the same page for a *view* of *messages* that was sent, such as that of a `Session`.

    *places* has the messages that each message of the view stands for: together, all of them.
    *choices* are those of `Options`; `format` and `model` matter.
    """
    from refold.choices import combine
    from refold.report.data import ReportBuilder, make_page

    builder = ReportBuilder(messages, combine(None, choices), None, None)
    return make_page(title, {"title": title, **builder.show(view, places)})
