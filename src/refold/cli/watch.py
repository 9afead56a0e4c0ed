"""`refold watch`: a live table of the sessions of Claude Code and Codex. Nothing is written."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from refold.api import Compressor
from refold.cli.options import command, make_options
from refold.cli.terminal import bar, clean, excerpt, show, table, width, working
from refold.conversation.models import DEFAULT_REGISTRY, list_prices
from refold.errors import RefoldError
from refold.messages.formats import load, recognize
from refold.options import Options
from refold.report.turns import make_counter, models_in
from refold.result import percent_saved
from refold.server.agents import find_file, find_places

_LATEST: Final = 12
"""As many sessions as fit on a terminal of 24 lines with the rest of the table."""
_WIDE: Final = 96
"""On a narrower terminal the model, the messages and the bar are left out."""
_MEDIUM: Final = 74
"""On a still narrower one, the tokens after a fold too: the share saved stands for them."""
_GROWTH: Final = 1.05
"""How much a session grows before it is folded again; until then, new messages count in full. A
fold reads the whole session, so this keeps the total work proportional to its length."""


@command(
    folder=("[DIR]",),
    once=("--once", "Print the table once instead of following."),
    latest=(
        "--latest N",
        "How many sessions to follow: those written last.",
        {"type": click.IntRange(min=1), "default": _LATEST, "show_default": True},
    ),
    interval=(
        "--interval SECONDS",
        "How often to look.",
        {"type": click.FloatRange(min=0.05), "default": 2.0, "show_default": True},
    ),
)
def watch_command(
    *, folder: str | None, once: bool, latest: int, interval: float, **tuning: Any
) -> None:
    """Follow sessions as they grow: tokens, costs, possible savings.

    Examples:
      refold watch
      refold watch ~/.claude/projects/my-project --once
      refold watch --budget 50000

    Without DIR, it follows Claude Code ($CLAUDE_CONFIG_DIR or ~/.claude) and
    Codex ($CODEX_HOME or ~/.codex). Nothing is changed. Costs are list prices for
    sending the conversation once, without prompt caching.
    """
    watch = Watch(default_folders(os.environ), make_options(**tuning), limit=latest)
    if folder is not None:
        watch.folders = [Path(folder)]
    missing = [str(one) for one in watch.folders if not one.exists()]
    if len(missing) == len(watch.folders):
        raise click.UsageError(f"there is no {' and no '.join(missing)}; name a DIR with sessions")
    with working("reading sessions"):
        grown = watch.poll()
    with suppress(KeyboardInterrupt):
        while not once:
            if sys.stdout.isatty():
                click.clear()
                show(draw_table(watch, width()))
            else:
                show(_describe(session) for session in grown)
                sys.stdout.flush()
            time.sleep(interval)
            grown = watch.poll()
    show(draw_table(watch, width()))


def default_folders(environment: Mapping[str, str]) -> list[Path]:
    """Return where Claude Code and Codex keep their sessions."""
    places = find_places(sys.platform, environment)
    claude, codex = (places.path_of(find_file(name)).parent for name in ("claude", "codex"))
    return [claude / "projects", codex / "sessions"]


@dataclass(slots=True)
class Session:
    """A session file and its current figures."""

    path: Path
    size: int = -1
    model: str = ""
    messages: int = 0
    """Messages since the last compaction, which the model still reads; so are all figures."""
    tokens: int = 0
    saved: int = 0
    """Tokens that the last fold saved."""
    folded_at: int = 0
    prompt_tokens: int = 0
    """The provider's last count, which includes the system prompt and the tools."""
    window_tokens: int = 0

    @property
    def tokens_folded(self) -> int:
        """Tokens that would be left after a fold."""
        return self.tokens - self.saved

    @property
    def fill(self) -> float | None:
        """The share of the window that is full, if it is known."""
        if not self.window_tokens:
            return None
        return max(self.tokens, self.prompt_tokens) / self.window_tokens

    @property
    def costs_usd(self) -> tuple[float, float] | None:
        """The cost of sending the conversation once, as it is and folded, without caching."""
        price = list_prices().find(self.model)
        if price is None:
            return None
        return price.cost_usd(self.tokens), price.cost_usd(self.tokens_folded)


class Watch:
    """The session files in some folders, latest first."""

    def __init__(self, folders: Sequence[Path], options: Options, *, limit: int) -> None:
        self.folders, self._options, self._limit = folders, options, limit
        self._count = make_counter(options.model)
        self._sessions: dict[Path, Session] = {}
        self.hidden = 0
        """How many older files are ignored."""

    @property
    def sessions(self) -> list[Session]:
        """Each session that has messages, latest first."""
        return [session for session in self._sessions.values() if session.messages]

    def poll(self) -> list[Session]:
        """Read the latest files, and return the sessions that have grown."""
        files = sorted(self._find(), key=lambda pair: pair[0], reverse=True)
        self.hidden = max(0, len(files) - self._limit)
        latest = [path for _, path in files[: self._limit]]
        self._sessions = {path: self._sessions.get(path) or Session(path) for path in latest}
        grown = []
        for path, session in list(self._sessions.items()):
            try:
                is_grown = self._read(session)
            except (OSError, RefoldError):  # deleted meanwhile, or not a session file
                del self._sessions[path]
                continue
            if is_grown and session.messages:
                grown.append(session)
        return grown

    def _find(self) -> Iterator[tuple[float, Path]]:
        for folder in self.folders:
            for path in [folder] if folder.is_file() else folder.rglob("*.jsonl"):
                with suppress(OSError):  # deleted meanwhile
                    yield path.stat().st_mtime, path

    def _read(self, session: Session) -> bool:
        """Read a session that has grown, and fold it if it has grown enough."""
        size = session.path.stat().st_size
        if size == session.size:
            return False
        data = session.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        is_fresh = session.size > size or session.size < 0
        records = [record for record in map(_parse, whole.split(b"\n")) if record is not None]
        session.size = size
        name = recognize(records).name
        if name not in ("claude-code", "codex"):
            return False
        start = max((n for n, record in enumerate(records) if _is_compaction(record)), default=0)
        messages = load(records[start:], format_name=name)
        tokens = sum(map(self._count.message, messages))
        if is_fresh or tokens < session.tokens:
            session.saved = session.folded_at = 0  # another file, or it was compacted
        session.messages = sum(message.is_turn for message in messages)
        session.tokens = tokens
        if tokens > session.folded_at * _GROWTH:
            result = Compressor(self._options, format=name).compress(records[start:])
            session.saved, session.folded_at = result.tokens_saved, tokens
        session.model = next(iter(models_in(records)), "")
        known = DEFAULT_REGISTRY.find(session.model) if session.model else None
        stated = next(filter(None, map(_stated_window, reversed(records))), 0)
        session.window_tokens = stated or (known.context_tokens if known is not None else 0)
        prompts = map(_reported_prompt, reversed(records[start:]))
        session.prompt_tokens = next(filter(None, prompts), 0)
        return True


def _parse(line: bytes) -> Mapping[str, Any] | None:
    """Return the record of a line; invalid lines are skipped, as the tools themselves do."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _is_compaction(record: Mapping[str, Any]) -> bool:
    """Return whether the model no longer reads what comes before *record*."""
    return record.get("isCompactSummary") is True or record.get("type") == "compacted"


def _reported_prompt(record: Mapping[str, Any]) -> int:
    """Return the provider's token count of a request; 0 if the record has none."""
    match record:
        case {"message": {"usage": {**usage}}}:  # Claude Code
            names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            return sum(value for name in names if isinstance(value := usage.get(name), int))
        case {"payload": {"info": {"last_token_usage": {"input_tokens": int(tokens)}}}}:  # Codex
            return tokens
    return 0


def _stated_window(record: Mapping[str, Any]) -> int:
    match record:
        case {"payload": {"info": {"model_context_window": int(tokens)}}}:
            return tokens
    return 0


def _describe(session: Session) -> str:
    saved = percent_saved(session.tokens, session.tokens_folded)
    folded = f"{session.tokens_folded:,} folded ({saved})"
    return f"{name_of(session.path)}: {session.tokens:,} tokens, {folded}"


def name_of(path: Path) -> str:
    """Return the project of a session and the beginning of its id."""
    parent = path.parent.name.rpartition("-")[2] or path.parent.name
    return clean(f"{parent}/{path.stem.removeprefix('rollout-')[:12]}")


def draw_table(watch: Watch, wide: int) -> Iterator[str]:
    """Yield one row per session, and the totals below; with little room, names are cut first."""
    sessions, is_wide, is_medium = watch.sessions, wide >= _WIDE, wide >= _MEDIUM
    chars = 24 if is_medium else 14
    heads = ["session", "model", "messages", "tokens", "window", "folded", "saved", "one request"]
    rows = [heads, *(_row(session, chars, is_wide=is_wide) for session in sessions)]
    if len(sessions) > 1:
        costs = [session.costs_usd for session in sessions if session.costs_usd is not None]
        both = (sum(before for before, _ in costs), sum(after for _, after in costs))
        tokens, after = (sum(s.tokens for s in sessions), sum(s.tokens_folded for s in sessions))
        sums = [f"{sum(s.messages for s in sessions):,}", f"{tokens:,}", "", f"{after:,}"]
        cost = _spell_costs(both) if costs else ""
        rows.append(["all", "", *sums, percent_saved(tokens, after), cost])
    hidden = {*(() if is_wide else (1, 2)), *(() if is_medium else (5,))}
    cells = [[cell for n, cell in enumerate(row) if n not in hidden] for row in rows]
    head, *body = table(cells, left=2 if is_wide else 1)
    yield from (head, "─" * max(map(len, (head, *body))), *body)
    if watch.hidden:
        yield f"  and {watch.hidden:,} older ones"
    elif not sessions:
        yield "  no sessions yet"


def _row(session: Session, name_chars: int, *, is_wide: bool) -> list[str]:
    fill = session.fill
    full = "?" if fill is None else f"{fill:.0%}"
    return [
        excerpt(name_of(session.path), name_chars),
        excerpt(session.model or "?", 20),
        f"{session.messages:,}",
        f"{session.tokens:,}",
        f"{bar(fill, 8)} {full:>4}" if is_wide and fill is not None else full,
        f"{session.tokens_folded:,}",
        percent_saved(session.tokens, session.tokens_folded),
        "?" if session.costs_usd is None else _spell_costs(session.costs_usd),
    ]


def _spell_costs(costs: tuple[float, float]) -> str:
    """Format prices with as many digits as are significant, as the report does."""
    return " → ".join(f"${usd:.{2 if usd >= 1 else 3 if usd >= 0.01 else 4}f}" for usd in costs)
