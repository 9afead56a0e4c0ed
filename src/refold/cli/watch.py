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
from refold.report.turns import models_in
from refold.result import percent_saved
from refold.server.agents import find_file, find_places

_LATEST: Final = 12
"""As many sessions as fit on a terminal of 24 lines with the rest of the table."""
_LEAST_SECONDS: Final = 0.05
"""Between two looks; no table can be read faster."""
_WIDE, _MEDIUM = 96, 74
"""How wide a terminal is that has room for all columns, and for all but the two to be missed least.
On a still narrower one, the share saved stands for the tokens after a fold."""
_COLUMNS: Final = {
    "session": 0,
    "model": _WIDE,
    "messages": _WIDE,
    "tokens": 0,
    "window": 0,
    "folded": _MEDIUM,
    "saved": 0,
    "one request": 0,
}


@command(
    folder=("[DIR]",),
    once=("--once", "Print the table once instead of following."),
    latest=("--latest N", "How many sessions to follow: those written last."),
    interval=("--interval SECONDS", "How often to look."),
)
def watch_command(
    *,
    folder: str | None,
    once: bool,
    latest: int = _LATEST,
    interval: float = 2.0,
    **tuning: Any,
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
    folders = [Path(folder)] if folder else default_folders(os.environ)
    missing = [str(one) for one in folders if not one.exists()]
    if len(missing) == len(folders):
        raise click.UsageError(f"there is no {' and no '.join(missing)}; name a DIR with sessions")
    watch = Watch(folders, make_options(**tuning), limit=latest)
    with working("reading sessions"):
        grown = watch.poll()
    with suppress(KeyboardInterrupt):
        while not once:
            if sys.stdout.isatty():
                click.clear()
                show(draw_table(watch, width()))
            else:
                for one in grown:
                    saved = percent_saved(one.tokens, one.tokens_folded)
                    folded = f"{one.tokens_folded:,} folded ({saved})"
                    print(f"{name_of(one.path)}: {one.tokens:,} tokens, {folded}", flush=True)
            time.sleep(max(_LEAST_SECONDS, interval))
            grown = watch.poll()
    show(draw_table(watch, width()))


def default_folders(environment: Mapping[str, str]) -> list[Path]:
    """Return where Claude Code and Codex keep their sessions."""
    places = find_places(sys.platform, environment)
    claude, codex = (places.path_of(find_file(name)).parent for name in ("claude", "codex"))
    return [claude / "projects", codex / "sessions"]


def find_session(name: str, environment: Mapping[str, str]) -> Path:
    """Return the session file that was written last of those with *name* in their ids."""
    paths = [path for folder in default_folders(environment) for path in folder.rglob("*.jsonl")]
    matching = [path for path in paths if name.rpartition("/")[2] in path.stem]
    if not matching:
        problem = f"neither Claude Code nor Codex has a session {name!r}; refold watch lists them"
        raise click.UsageError(problem)
    return max(matching, key=lambda path: path.stat().st_mtime)


@dataclass(slots=True)
class Session:
    """A session file, and the figures of what the model still reads: since the last compaction."""

    path: Path
    compressor: Compressor
    """One for each: it knows most of the session from before, and only has to read what is new."""
    size: int = -1
    model: str = ""
    messages: int = 0
    tokens: int = 0
    tokens_folded: int = 0
    prompt_tokens: int = 0
    """The provider's last count, which includes the system prompt and the tools."""
    window_tokens: int = 0

    @property
    def fill(self) -> float | None:
        """The share of the window that is full, if it is known."""
        most = max(self.tokens, self.prompt_tokens)
        return most / self.window_tokens if self.window_tokens else None

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
        self._folders, self._options, self._limit = folders, options, limit
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
        known, self._sessions, grown = self._sessions, {}, []
        for _, path in files[: self._limit]:
            session = known.get(path) or Session(path, Compressor(self._options))
            with suppress(OSError, RefoldError):  # deleted meanwhile, or not a session file
                if _read(session) and session.messages:
                    grown.append(session)
                self._sessions[path] = session
        return grown

    def _find(self) -> Iterator[tuple[float, Path]]:
        for folder in self._folders:
            for path in [folder] if folder.is_file() else folder.rglob("*.jsonl"):
                with suppress(OSError):  # deleted meanwhile
                    yield path.stat().st_mtime, path


def _read(session: Session) -> bool:
    """Read and fold a session if its file has changed; return whether it has."""
    size = session.path.stat().st_size
    if size == session.size:
        return False
    session.size, data = size, session.path.read_bytes()
    records = list(_parse(data[: data.rfind(b"\n") + 1]))
    if recognize(records).name not in ("claude-code", "codex"):
        return False
    compactions = (
        n
        for n, record in enumerate(records)
        if record.get("isCompactSummary") is True or record.get("type") == "compacted"
    )
    read = records[max(compactions, default=0) :]
    result = session.compressor.compress(read)
    session.messages = sum(message.is_turn for message in load(read))
    session.tokens, session.tokens_folded = result.tokens_before, result.tokens_after
    session.model = next(iter(models_in(records)), "")
    reported = [_reported(record) for record in reversed(records)]
    session.prompt_tokens = next((prompt for prompt, _ in reported[: len(read)] if prompt), 0)
    known = DEFAULT_REGISTRY.find(session.model) if session.model else None
    stated = next((window for _, window in reported if window), 0)
    session.window_tokens = stated or (known.context_tokens if known else 0)
    return True


def _parse(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the records of all lines; invalid lines are skipped, as the tools themselves do."""
    for line in data.split(b"\n"):
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict):
                yield record


def _reported(record: Mapping[str, Any]) -> tuple[int, int]:
    """Return the tokens of a request and of the window, as the provider says; 0 if it does not."""
    match record:
        case {"message": {"usage": {**usage}}}:  # Claude Code
            names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            return sum(value for name in names if isinstance(value := usage.get(name), int)), 0
        case {"payload": {"info": {"last_token_usage": {"input_tokens": int(prompt)}, **info}}}:
            window = info.get("model_context_window")  # Codex
            return prompt, window if isinstance(window, int) else 0
    return 0, 0


def name_of(path: Path) -> str:
    """Return the project of a session and the beginning of its id."""
    parent = path.parent.name.rpartition("-")[2] or path.parent.name
    return clean(f"{parent}/{path.stem.removeprefix('rollout-')[:12]}")


def draw_table(watch: Watch, wide: int) -> Iterator[str]:
    """Yield one row per session, and the totals below; with little room, names are cut first."""
    sessions, rows = watch.sessions, [list(_COLUMNS)]
    for one in sessions:
        full = "?" if one.fill is None else f"{one.fill:.0%}"
        if wide >= _WIDE and one.fill is not None:
            full = f"{bar(one.fill, 8)} {full:>4}"
        name = excerpt(name_of(one.path), 24 if wide >= _MEDIUM else 14)
        words = (name, excerpt(one.model or "?", 20), full, _spell_costs([one.costs_usd]) or "?")
        rows.append(_row([one], *words))
    if len(sessions) > 1:
        rows.append(_row(sessions, "all", "", "", _spell_costs([s.costs_usd for s in sessions])))
    cells = [
        [cell for cell, least in zip(row, _COLUMNS.values(), strict=True) if wide >= least]
        for row in rows
    ]
    head, *body = table(cells, left=2 if wide >= _WIDE else 1)
    yield from (head, "─" * max(map(len, (head, *body))), *body)
    if watch.hidden:
        yield f"  and {watch.hidden:,} older ones"
    elif not sessions:
        yield "  no sessions yet"


def _row(sessions: Sequence[Session], name: str, model: str, full: str, costs: str) -> list[str]:
    messages, tokens = sum(one.messages for one in sessions), sum(one.tokens for one in sessions)
    folded = sum(one.tokens_folded for one in sessions)
    saved = percent_saved(tokens, folded)
    return [name, model, f"{messages:,}", f"{tokens:,}", full, f"{folded:,}", saved, costs]


def _spell_costs(costs: Sequence[tuple[float, float] | None]) -> str:
    """Add up what is known, with as many digits as are significant, as in the report."""
    sums = [sum(prices) for prices in zip(*filter(None, costs), strict=True)]
    return " → ".join(f"${usd:.{2 if usd >= 1 else 3 if usd >= 0.01 else 4}f}" for usd in sums)
