"""Follow session files of Claude Code and Codex as they grow: what they cost, what could be folded.

Nothing is written. Only what was appended to a file is read, and a session is folded again once it
has grown by 5 %; until then, new messages count in full.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import SEEK_END
from pathlib import Path
from typing import Any, Final

from refold.api import Compressor
from refold.conversation.models import DEFAULT_REGISTRY, list_prices
from refold.errors import RefoldError
from refold.messages.formats import Loader, recognize
from refold.options import Options
from refold.report.turns import make_counter, models_in

_FORMATS: Final = ("claude-code", "codex")
_GROWTH: Final = 0.05
"""The share by which a session grows before it is folded again. A fold reads the whole session, so
this keeps the total work proportional to its length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The current figures of a session."""

    path: Path
    model: str = ""
    messages: int = 0
    """Messages since the last compaction, which the model still reads; so are all figures."""
    tokens: int = 0
    tokens_folded: int = 0
    """Tokens that would be left after a fold."""
    prompt_tokens: int | None = None
    """The last count of the provider, which includes the system prompt and the tools."""
    window_tokens: int | None = None

    @property
    def fill(self) -> float | None:
        """The share of the window that is full, if it is known."""
        if not self.window_tokens:
            return None
        return max(self.tokens, self.prompt_tokens or 0) / self.window_tokens

    @property
    def costs_usd(self) -> tuple[float, float] | None:
        """The cost of sending the conversation once, as it is and folded, without caching."""
        price = list_prices().find(self.model)
        if price is None:
            return None
        return price.cost_usd(self.tokens), price.cost_usd(self.tokens_folded)


class SessionFile:
    """One file that grows."""

    def __init__(self, path: Path, options: Options) -> None:
        self._path = path
        self._options = options
        self._count = make_counter(options.model)
        self._restart()

    def _restart(self) -> None:
        """Start over: the file was replaced by another one."""
        self.figures = Figures(path=self._path)
        self._offset = 0
        self._rest = b""
        self._format = ""
        self._restart_after_compaction()

    def _restart_after_compaction(self) -> None:
        """Drop the records before a compaction, which the model no longer reads."""
        self._records: list[Mapping[str, Any]] = []
        self._loader: Loader | None = None
        self._messages = self._tokens = self._counted = 0
        self._saved = self._folded_at = 0

    def read_on(self) -> bool:
        """Read what was appended since the last call; return whether there was anything."""
        *lines, self._rest = (self._rest + self._read()).split(b"\n")
        fresh = [record for record in map(_parse, lines) if record is not None]
        for record in fresh:
            if _is_compaction(record):
                self._restart_after_compaction()
            self._records.append(record)
        if not self._format:
            name = recognize(self._records).name
            self._format = name if name in _FORMATS else ""
        if fresh and self._format:
            self._count_fresh()
            self._fold()
            self._update_figures(fresh)
        return bool(fresh)

    def _read(self) -> bytes:
        with self._path.open("rb") as file:
            if file.seek(0, SEEK_END) < self._offset:
                self._restart()
            file.seek(self._offset)
            data = file.read()
        self._offset += len(data)
        return data

    def _count_fresh(self) -> None:
        self._loader = self._loader or Loader(self._format)
        for place in range(self._counted, len(self._records)):
            message = self._loader.load(self._records[place], place)
            self._messages += message.is_turn
            self._tokens += self._count.message(message)
        self._counted = len(self._records)

    def _fold(self) -> None:
        if self._tokens <= self._folded_at * (1 + _GROWTH):
            return
        options = replace(self._options, format=self._format)
        result = Compressor(options).compress(self._records)
        self._saved, self._folded_at = result.tokens_saved, self._tokens

    def _update_figures(self, fresh: Sequence[Mapping[str, Any]]) -> None:
        before = self.figures
        model = next(iter(models_in(fresh)), before.model)
        known = DEFAULT_REGISTRY.find(model) if model else None
        window = next(filter(None, map(_stated_window, reversed(fresh))), before.window_tokens)
        if window is None and known is not None:
            window = known.context_tokens
        prompt = next(filter(None, map(_reported_prompt, reversed(fresh))), before.prompt_tokens)
        self.figures = Figures(
            path=self._path,
            model=model,
            messages=self._messages,
            tokens=self._tokens,
            tokens_folded=self._tokens - self._saved,
            prompt_tokens=prompt,
            window_tokens=window,
        )


class Watch:
    """The session files in some folders, latest first."""

    def __init__(self, folders: Sequence[Path], options: Options, *, limit: int) -> None:
        self._folders = folders
        self._options = options
        self._limit = limit
        self._files: dict[Path, SessionFile] = {}
        self.hidden = 0
        """How many older files are ignored."""

    def poll(self) -> list[Figures]:
        """Read the latest files, and return the figures of those that have grown."""
        found = sorted(self._find(), key=lambda pair: pair[0], reverse=True)
        self.hidden = max(0, len(found) - self._limit)
        latest = [path for _, path in found[: self._limit]]
        self._files = {
            path: self._files.get(path) or SessionFile(path, self._options) for path in latest
        }
        grown = []
        for path, session in list(self._files.items()):
            try:
                is_grown = session.read_on()
            except (OSError, RefoldError):  # deleted meanwhile, or not a session file
                del self._files[path]
                continue
            if is_grown and session.figures.messages:
                grown.append(session.figures)
        return grown

    @property
    def figures(self) -> list[Figures]:
        """The figures of each session, latest first."""
        return [file.figures for file in self._files.values() if file.figures.messages]

    def _find(self) -> Iterator[tuple[float, Path]]:
        for folder in self._folders:
            files = [folder] if folder.is_file() else folder.rglob("*.jsonl")
            for path in files:
                try:
                    yield path.stat().st_mtime, path
                except OSError:  # deleted meanwhile
                    continue


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
    """Return the provider's token count of the last request; 0 if the record has none."""
    match record:
        case {"message": {"usage": {**usage}}}:  # Claude Code
            names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            return sum(value for name in names if isinstance(value := usage.get(name), int))
        case {"payload": {"info": {"last_token_usage": {"input_tokens": int(tokens)}}}}:  # Codex
            return tokens
        case _:
            return 0


def _stated_window(record: Mapping[str, Any]) -> int:
    match record:
        case {"payload": {"info": {"model_context_window": int(tokens)}}}:
            return tokens
        case _:
            return 0
