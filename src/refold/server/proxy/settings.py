"""The settings of `refold serve`, checked once at the start."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args
from urllib.parse import urlsplit

from refold.checks import check_choice, check_positive, check_whole
from refold.conversation.economics import Budget
from refold.conversation.finder import read_message
from refold.errors import ConfigError
from refold.gone import GONE_FLAGS

Retrieval = Literal["inline", "off"]
ProxyProfile = Literal["standard", "lossless"]
Ttl = Literal["", "5m", "1h"]

PREFIX: Final = "REFOLD_"
"""The prefix of environment variables: `REFOLD_PORT`, `REFOLD_ANTHROPIC_URL`, …"""
_UPSTREAMS: Final = ("anthropic_url", "openai_url", "gemini_url")
_FOLLOWED: Final = ("profile", "token_budget", "exclude_tools", "tool_limits", "ttl", "fold_ms")
"""What can be changed while the proxy runs."""
_MIN_TOKEN_CHARS: Final = 16
"""Shorter tokens could be guessed over a network."""
_LAST_PORT: Final = 65_535
"""Ports are 16-bit numbers."""
_SWITCH: Final = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_KINDS: Final = {int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of one proxy; immutable."""

    host: str = "127.0.0.1"
    """The address to listen on; other than loopback needs a `token`."""
    port: int = 8787
    """The port to listen on; 0 takes a free one."""
    anthropic_url: str = "https://api.anthropic.com"
    """Where requests of the Anthropic API go."""
    openai_url: str = "https://api.openai.com"
    """Where requests of the OpenAI API go."""
    gemini_url: str = "https://generativelanguage.googleapis.com"
    """Where requests of the Gemini API go."""
    store: str = ""
    """Where originals are kept: a SQLite file or the address of a store, see `open_store`; by
    default `refold.db` in the user's data folder."""
    retrieve: Retrieval = "inline"
    """Who answers when a model asks for an original: this proxy, or nobody."""
    profile: ProxyProfile = "standard"
    """`standard` folds conversations; `lossless` only respells results."""
    token_budget: int | str = "auto"
    """When to fold, and down to what: `auto` when that pays, `careful`, `tight`, a share such as
    `30%`, or the most tokens of a request; see `Session`."""
    exclude_tools: str = ""
    """Names or patterns of tools whose results stay as they are, with commas: `Edit,mcp__*`."""
    tool_limits: str = ""
    """The most tokens of a new result, by name or pattern of its tool: `Bash=4000,mcp__*=8000`."""
    ttl: Ttl = ""
    """How long a provider's cache lasts where the client set a mark without saying: `1h`, `5m`."""
    fold_ms: int = 200
    """How long folding may delay a request; what takes longer is used for the next one."""
    token: str = field(default="", repr=False)
    """If set, what clients must send as `x-refold-token` or in the path as `/t/TOKEN`."""
    show_content: bool = False
    """Whether the page shows what conversations say, before and after."""
    max_body_mb: int = 64
    """The largest request that is read."""
    client_seconds: float = 60.0
    """How long a client may take for its request, and for the next bytes of an answer."""
    upstream_seconds: float = 600.0
    """How long a provider may be silent."""

    def __post_init__(self) -> None:
        if str(self.retrieve) == "mcp":
            raise ConfigError("retrieve='mcp' is gone: use 'inline', which serves every client")
        check_choice("retrieve", self.retrieve, get_args(Retrieval))
        check_choice("profile", self.profile, get_args(ProxyProfile))
        check_choice("ttl", self.ttl, get_args(Ttl))
        check_whole("port", self.port)
        if self.port > _LAST_PORT:
            raise ConfigError(f"port must be at most {_LAST_PORT}; got {self.port}")
        for name in ("fold_ms", "max_body_mb"):
            check_whole(name, getattr(self, name), least=1)
        Budget.of(self.budget)
        if isinstance(self.budget, int):
            check_whole("token_budget", self.budget, least=1)
        self.rules()
        for name in ("client_seconds", "upstream_seconds"):
            check_positive(name, getattr(self, name))
        for name in _UPSTREAMS:
            _check_url(name, getattr(self, name))
        if self.token and len(self.token) < _MIN_TOKEN_CHARS:
            raise ConfigError(f"token must have at least {_MIN_TOKEN_CHARS} characters")
        if not self.is_local and not self.token:
            raise ConfigError(
                f"host {self.host!r} can be reached from other machines: give a token as well"
            )
        if not self.is_local and self.show_content:
            raise ConfigError("show_content shows everybody's conversations: loopback only")

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def budget(self) -> int | str | None:
        """The budget as sessions take it; `None` where nothing is folded."""
        if self.profile == "lossless":
            return None
        if isinstance(self.token_budget, str) and self.token_budget.isdecimal():
            return int(self.token_budget)
        return self.token_budget

    def rules(self) -> ToolRules:
        """Return the rules for the tools of a conversation; `ConfigError` if they are none."""
        limits: dict[str, int] = {}
        for rule in _split(self.tool_limits):
            name, _, limit = rule.rpartition("=")
            if not name or not limit.isdecimal():
                raise ConfigError(f"tool_limits must be NAME=TOKENS,…; got {rule!r}")
            limits[name] = int(limit)
        return ToolRules(_split(self.exclude_tools), limits)

    def followed_by(self, other: Settings) -> Settings:
        """Return these settings with those of *other* that need no restart."""
        return replace(self, **{name: getattr(other, name) for name in _FOLLOWED})

    @classmethod
    def from_env(cls, env: Mapping[str, str], *, config: str | None = None, **choices: Any) -> Self:
        """Read `REFOLD_PORT`, `REFOLD_TOKEN` and so on; *choices* other than `None` win.

        What neither says is read from the TOML file *config*, if there is one.
        """
        if env.get(PREFIX + "WORKERS"):
            raise ConfigError(f"{PREFIX}WORKERS is gone: {GONE_FLAGS['--workers']}")
        path = config or env.get(PREFIX + "CONFIG")
        values = _read_file(path) if path else {}
        for one in fields(cls):
            raw = env.get(PREFIX + one.name.upper())
            if raw and choices.get(one.name) is None:
                values[one.name] = _read(one.name, raw, type(one.default))
        values |= {name: value for name, value in choices.items() if value is not None}
        return cls(**values)


def _read_file(path: str) -> dict[str, Any]:
    try:
        values = tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"the settings in {path!r} cannot be read: {error}") from error
    kinds = {one.name: type(one.default) for one in fields(Settings)}
    for name, value in values.items():
        kind = kinds.get(name)
        may_be_whole = kind is float or name == "token_budget"
        if type(value) is not kind and not (may_be_whole and type(value) is int):
            raise ConfigError(f"{path!r}: there is no setting {name} = {value!r}")
    return values


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _read(name: str, raw: str, kind: type) -> object:
    """Read an environment variable as the type of its setting."""
    try:
        return _SWITCH[raw.strip().lower()] if kind is bool else kind(raw)
    except (ValueError, KeyError):
        problem = f"{PREFIX}{name.upper()} must be {_KINDS[kind]}, got {raw!r}"
        raise ConfigError(problem) from None


def _check_url(name: str, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{name} must be an http or https address, got {url!r}")
    if parts.query or parts.fragment or parts.username:
        raise ConfigError(f"{name} must have no user, query or fragment, got {url!r}")


class ToolRules:
    """The rules for one conversation, which learns from it which call is of which tool."""

    def __init__(self, excluded: Sequence[str], limits: Mapping[str, int]) -> None:
        """*excluded* are names or patterns of tools; *limits* are tokens by name or pattern."""
        self.excluded = excluded
        self._limits = limits
        self._names: dict[str, str] = {}
        """Names of tools by the ids of their calls."""

    def note(self, message: Any) -> None:
        """Read the calls of a message, before it is appended to the session."""
        if self.excluded or self._limits:
            read = read_message(message)
            self._names.update((call.id, call.name) for call in (read[1].calls if read else ()))

    def is_excluded(self, message: Mapping[str, Any]) -> bool:
        """Return whether a message has the result of a tool that is excluded."""
        return any(fnmatchcase(t, rule) for t in self._answered(message) for rule in self.excluded)

    def limit_of(self, message: Mapping[str, Any]) -> int | None:
        """Return the most tokens of a message with results, if there is a limit for their tool."""
        tools, limits = self._answered(message), self._limits.items()
        return next((most for t in tools for rule, most in limits if fnmatchcase(t, rule)), None)

    def _answered(self, message: Mapping[str, Any]) -> list[str]:
        """Return the names of the tools whose results are in a message."""
        read = read_message(message)
        results = [part.result for part in read[1].parts if part.result] if read else []
        return [self._names.get(one.call_id or "", one.tool) for one in results]
