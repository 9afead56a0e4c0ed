"""The page of the report and its data: a conversation, and what becomes of it at each budget.

A page has a row for each message at each budget, and the view as a model reads it, so their keys
are single letters:

| view | |
|---|---|
| `p`, `i` | first and last message that it stands for; the place of the first among `messages` |
| `r`, `b`, `t` | role, tokens before and after |
| `x`, `c`, `m` | if it changed: texts, calls, and the length of the mark above the first text |

| row | |
|---|---|
| `a`, `t` | action, and tokens after the fold |
| `x` | what became of each of its texts |
| `g` | first and last message of the digest that it is part of, if it is |

| text | |
|---|---|
| `a`, `r` | action, and the reason for it: a number in `strings` |
| `o`, `f` | if it changed: the folded text, and its runs |
| `l`, `c` | the runs of the original; the text that was cut, if it was reformatted before |
| `s` | how much was kept and dropped, in words |

Runs are flat triples: length, whether it is kept, and why: a number in `strings`.

The page is one file of HTML, with style, script and data in it, and no network. Text of a
conversation goes only into the data, which is packed: letters and figures that can end nothing. The
script shows it with `textContent`. Should anything get around that, the policy of the page lets no
other script run, no markup be made from strings, and no request leave.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any, Final

from refold.api import Compressor
from refold.conversation.models import list_prices
from refold.fold.kinds import kind_of
from refold.messages.formats import load
from refold.messages.message import Message
from refold.notation.recognize import mark_of
from refold.options import Options, without_budget
from refold.report.changes import Span, mark_after, mark_before
from refold.report.pieces import ACTIONS, sum_up
from refold.report.story import Row, compare, make_rows, say_why
from refold.report.turns import USUAL_MODELS, align, make_counter, models_in, name_tools, tools_of
from refold.result import TraceEntry
from refold.scan.tokens.choose import encoding_for
from refold.stores.base import Store

Wires = Sequence[Mapping[str, Any]]
_FOLDER: Final = files("refold.report")
_START: Final = "30 %"
"""Where the slider stands at first, unless a budget was chosen."""


class ReportBuilder:
    """Says what the page needs to show a conversation, and what became of it."""

    def __init__(
        self, wires: Wires, options: Options, store: Store | None, conversation: str | None
    ) -> None:
        self._wires = wires
        self._options = replace(options, trace=True)
        self._store = store
        self._conversation = conversation
        self._messages = load(wires, format_name=options.format)
        self._turns = [message for message in self._messages if message.is_turn]
        self._place_of = {message.index: place for place, message in enumerate(self._turns)}
        self._count = make_counter(options.model)
        self._tokens = [self._count.message(message) for message in self._turns]
        self._strings: dict[str, int] = {}

    def fold(self, steps: Sequence[int]) -> dict[str, Any]:
        """Return all of it as JSON-ready data, folded to the budget of the options and each share.

        *steps* are shares in percent; at 100 there is no budget.
        """
        total = sum(self._tokens)
        folds = {
            f"{percent} %": replace(
                self._options, token_budget=total * percent // 100, token_share=None, strict=False
            )
            if percent < 100
            else without_budget(self._options)
            for percent in steps
        }
        start = _START if _START in folds else next(reversed(folds), "")
        if self._options.has_budget:
            chosen = self._options.with_share_of(total)
            share = self._options.token_share
            start = f"{chosen.token_budget or 0:,}" if share is None else f"{100 * share:g} %"
            folds[start] = chosen
        made = []
        for label, options in folds.items():
            compressor = Compressor(options, store=self._store, conversation=self._conversation)
            result = compressor.compress(self._wires)
            pairs = list(align(self._wires, result))
            after = load([wire for _, wire in pairs], format_name=options.format) if pairs else ()
            step = {
                "label": label,
                "budget": options.token_budget,
                "fits": result.fits is not False,
            }
            places = [place for place, _ in pairs]
            made.append({**step, **self._describe_step(after, places, result.decisions)})
        made.sort(key=lambda step: -step["tokens"])
        return self._build(made, start)

    def show(self, view: Wires, places: Sequence[range]) -> dict[str, Any]:
        """Return the same for a *view* that was sent; *places* has what each stands for."""
        after = load(view, format_name=self._options.format) if view else ()
        decisions = list(compare(self._messages, after, places))
        step = {"label": "sent", "budget": None, "fits": True, "note": "As it was sent last."}
        return self._build([{**step, **self._describe_step(after, places, decisions)}], "sent")

    def _build(self, made: Sequence[dict[str, Any]], start: str) -> dict[str, Any]:
        encoding = encoding_for(self._options.model) if self._options.model else None
        return {
            "counted": f"counted with {encoding}" if encoding else "estimated",
            "profile": self._options.profile,
            "tokens": sum(self._tokens),
            "messages": list(self._describe_messages()),
            "steps": made,
            "start": next((n for n, step in enumerate(made) if step["label"] == start), 0),
            "actions": ACTIONS,
            "strings": list(self._strings),
            "prices": self._prices(),
        }

    def _describe_messages(self) -> Iterator[dict[str, Any]]:
        names = name_tools(self._messages)
        for message, tokens in zip(self._turns, self._tokens, strict=True):
            tools = tools_of(message, names)
            called = dict.fromkeys(call.name for call in message.calls)
            yield {
                "n": message.index,
                "role": message.role,
                "kind": _kind(message),
                "tools": [*tools, *(name for name in called if name not in tools)],
                "tokens": tokens,
                "texts": [part.text for part in message.parts],
                "calls": [[call.name, call.spelled] for call in message.calls],
                "thinking": sum(map(self._count, message.thinking)),
                "images": message.images,
            }

    def _describe_step(
        self,
        after: Sequence[Message],
        places: Sequence[range],
        decisions: Sequence[TraceEntry],
    ) -> dict[str, Any]:
        """Return what became of every message."""
        costs = self._share_costs(after, places, decisions)
        rows: dict[int, list[Row]] = {}
        for row in make_rows(self._messages, after, places, decisions):
            rows.setdefault(row.index, []).append(row)
        spans = {number: place for place in places if len(place) > 1 for number in place}
        return {
            "tokens": sum(costs),
            "count": sum(message.is_turn for message in after),
            "rows": [
                self._spell(rows.get(message.index, []), cost, spans.get(message.index))
                for message, cost in zip(self._turns, costs, strict=True)
            ],
            "view": [
                self._spell_turn(message, place)
                for message, place in zip(after, places, strict=True)
                if any(number in self._place_of for number in place)
            ],
        }

    def _spell_turn(self, message: Message, place: range) -> dict[str, Any]:
        """Return a message as a model reads it; one that did not change is found by its place."""
        turns = [self._place_of[number] for number in place if number in self._place_of]
        spelled: dict[str, Any] = {
            "p": [place.start, place.stop - 1],
            "i": turns[0],
            "r": message.role,
            "b": sum(self._tokens[turn] for turn in turns),
            "t": self._count.message(message),
        }
        if len(place) > 1 or message.digest != self._messages[place.start].digest:
            spelled["x"] = [part.text for part in message.parts]
            spelled["c"] = [[call.name, call.spelled] for call in message.calls]
            spelled["m"] = utf16_len(mark_of(spelled["x"][0])) if spelled["x"] else 0
        return spelled

    def _share_costs(
        self,
        after: Sequence[Message],
        places: Sequence[range],
        decisions: Sequence[TraceEntry],
    ) -> list[int]:
        """Return what each message costs after the fold.

        What one message costs that stands for several is shared out by how much it shows of each.
        """
        weight_of: dict[int, int] = {}
        for entry in decisions:
            if entry.shown:
                cost = self._count(entry.shown)
                weight_of[entry.message_index] = weight_of.get(entry.message_index, 0) + cost
        costs = [0] * len(self._turns)
        for message, place in zip(after, places, strict=True):
            turns = [number for number in place if number in self._place_of]
            weights = [weight_of.get(number, 0) for number in turns]
            parts = share_out(self._count.message(message), weights)
            for number, cost in zip(turns, parts, strict=True):
                costs[self._place_of[number]] = cost
        return costs

    def _spell(self, rows: Sequence[Row], cost: int, span: range | None) -> dict[str, Any]:
        spelled: dict[str, Any] = {"t": cost, "x": [self._spell_text(row) for row in rows]}
        changed = [row.action for row in rows if row.action != "preserved"]
        spelled["a"] = changed[0] if changed else "preserved"
        if span is not None:
            spelled["g"] = [span.start, span.stop - 1]
        return spelled

    def _spell_text(self, row: Row) -> dict[str, Any]:
        spelled: dict[str, Any] = {"a": row.action, "r": self._number(say_why(row))}
        if row.before == row.after:
            return spelled
        spelled["o"] = row.after
        spans = mark_before(row)
        spelled["l"] = self._runs(spans)
        cut = "".join(span.text for span in spans)
        if cut != row.before:
            spelled["c"] = cut
        spelled["f"] = self._runs(mark_after(row))
        sums = sum_up(row.pieces)
        if sums:
            spelled["s"] = sums
        return spelled

    def _runs(self, spans: Iterable[Span]) -> list[int]:
        """Spell spans as triples: how long it is in JavaScript, whether it is kept, and why."""
        runs: list[int] = []
        for span in spans:
            runs += (utf16_len(span.text), int(span.is_kept), self._number(span.reason))
        return runs

    def _number(self, text: str) -> int:
        """Return the number of words that are used often."""
        return self._strings.setdefault(text, len(self._strings))

    def _prices(self) -> dict[str, Any]:
        known = list_prices()
        used = [self._options.model or "", *models_in(self._wires)]
        prices = {
            price.model: price
            for name in (*used, *USUAL_MODELS)
            if (price := known.find(name)) is not None
        }
        return {
            "source": known.source,
            "date": known.as_of.isoformat(),
            "own": [price.model for name in used if (price := known.find(name)) is not None],
            "models": [
                [price.model, price.usd_per_million, price.long_tokens, price.long_usd_per_million]
                for price in prices.values()
            ],
        }


def _kind(message: Message) -> str:
    """Name what a message is: for the result of a tool, what kind of result."""
    for part in message.parts:
        if message.is_result(part):
            return kind_of(part.text)
    if message.calls:
        return "tool call"
    return "text" if message.parts else "thinking" if message.thinking else "other"


def share_out(total: int, weights: Sequence[int]) -> list[int]:
    """Divide *total* in proportion to *weights*, whole and without a remainder.

    Where nothing weighs anything, the first has it all.
    """
    weight = sum(weights)
    if not weight:
        return [total, *[0] * (len(weights) - 1)] if weights else []
    parts, done, so_far = [], 0, 0
    for one in weights:
        so_far += one
        parts.append(total * so_far // weight - done)
        done += parts[-1]
    return parts


def utf16_len(text: str) -> int:
    """Return the length of *text* as JavaScript counts it."""
    if text.isascii():
        return len(text)
    return len(text) + sum(char > "\uffff" for char in text)


def make_page(title: str, data: Mapping[str, Any]) -> str:
    """Return the whole page as HTML."""
    family, style, script, page = (
        _FOLDER.joinpath(name).read_text("utf-8")
        for name in ("family.css", "report.css", "report.js", "report.html")
    )
    style = family + style
    parts = {
        "{{policy}}": policy_of(style, script),
        "{{title}}": html.escape(title.encode(errors="replace").decode()),  # half a character
        "{{style}}": style,
        "{{script}}": script,
        "{{data}}": pack(data),
    }
    first, *rest = page.split("{{")
    made = [first]
    for piece in rest:  # in one pass: what is put in is never searched for more
        name, _, text = piece.partition("}}")
        made += (parts["{{" + name + "}}"], text)
    return "".join(made)


def pack(data: Mapping[str, Any]) -> str:
    """Pack *data* as JSON in gzip in base64: small, and nothing in it can end an element.

    Every text is written once, beside others of its message: what they share packs to nothing.
    """
    numbers: dict[str, int] = {}
    place_of: dict[str, int] = {}

    def number(text: str, place: int) -> int:
        place_of.setdefault(text, place)
        return numbers.setdefault(text, len(numbers))

    def numbered(held: Mapping[str, Any], place: int, *names: str) -> dict[str, Any]:
        changed = {name: held[name] for name in names if name in held}
        for name, value in changed.items():
            several = isinstance(value, list)
            changed[name] = [number(t, place) for t in value] if several else number(value, place)
        return {**held, **changed}

    messages = [numbered(m, place, "texts") for place, m in enumerate(data["messages"])]
    steps = []
    for step in data["steps"]:
        rows = [
            {**row, "x": [numbered(text, place, "o", "c") for text in row["x"]]}
            for place, row in enumerate(step["rows"])
        ]
        view = [numbered(turn, turn["i"], "x") for turn in step["view"]]
        steps.append({**step, "rows": rows, "view": view})
    texts = [[numbers[text], text] for text in sorted(numbers, key=lambda one: place_of[one])]
    whole = {**data, "texts": texts, "messages": messages, "steps": steps}
    spelled = json.dumps(whole, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(spelled, mtime=0)).decode()


def policy_of(style: str, script: str) -> str:
    """Return the policy of a page that runs its own style and script, and fetches nothing."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
