"""What a tool returned: the text and its place, whether it failed, and what may be done with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, get_args

from refold.errors import ConfigError
from refold.model.provenance import ID_PREFIX, make_summary_id
from refold.model.wire import Path, place_of, text_digest
from refold.text.truncate import cut

ToolPolicy = Literal["verbatim", "lossless", "never_send", "extractive", "model"]
"""What may be done with a result, the most careful first.

verbatim    it stays as it is
lossless    it may be written shorter only if nothing is lost
never_send  it may be shortened on this machine, but no model is ever shown it
extractive  it may be shortened to some of its own words
model       a model may be asked to write it shorter
"""

_POLICIES: Final[tuple[ToolPolicy, ...]] = get_args(ToolPolicy)
_GLOB: Final = re.compile(r"[*?[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that an assistant makes; it is never changed."""

    index: int
    """Which message makes it."""
    id: str = ""
    name: str = ""
    arguments: str = ""
    """As text: the way the model wrote them, or spelled as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundText:
    """A text in a message, and where it stands."""

    index: int
    path: Path
    role: str
    text: str
    beside_calls: bool = False
    """Whether the same message makes tool calls: the text may be shortened, the calls never."""

    @property
    def place(self) -> str:
        """The spot for people: `messages[3].content[1].text`."""
        return place_of(self.index, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolText(FoundText):
    """A text that a tool returned."""

    tool: str = ""
    """The name of the tool, from the call that this answers; empty if nobody tells."""
    arguments: str = ""
    call_id: str = ""
    is_error: bool = False
    is_data: bool = False
    """Whether the place holds data and `text` is its JSON; a string may be put there instead."""
    block: Path = ()
    """The result that this text is part of: texts with the same index and block are one result."""


@dataclass(frozen=True, slots=True)
class Policies:
    """Policies by tool: exact names first, then globs in the order given, then the default."""

    rules: Mapping[str, ToolPolicy] = field(default_factory=dict[str, ToolPolicy])
    """Name or glob (`read_*`, case counts) → policy."""
    _: KW_ONLY
    default: ToolPolicy = "model"
    errors: ToolPolicy = "verbatim"
    """For failed results; where the tool's own policy is more careful, that one holds."""

    def __post_init__(self) -> None:
        if not isinstance(self.rules, Mapping):
            raise ConfigError(
                f"rules must map tool names to policies, got {type(self.rules).__name__}"
            )
        for name, policy in self.rules.items():
            if not isinstance(name, str) or not name:
                raise ConfigError(f"a rule needs the name of a tool or a glob, got {name!r}")
            _check(f"rules[{name!r}]", policy)
        _check("default", self.default)
        _check("errors", self.errors)
        object.__setattr__(self, "rules", dict(self.rules))  # the caller's mapping may change

    def policy_for(self, result: ToolText) -> ToolPolicy:
        """Return what may be done with *result*."""
        policy = self._of_tool(result.tool)
        return min(policy, self.errors, key=_POLICIES.index) if result.is_error else policy

    def may_send(self, result: ToolText) -> bool:
        """Tell whether a model may see *result*, for whatever purpose.

        Ask this too where text is sent on in bulk: a failed result is verbatim *and* must not be
        sent if its tool says so.
        """
        policies = (self._of_tool(result.tool), *([self.errors] if result.is_error else []))
        return "never_send" not in policies

    def _of_tool(self, tool: str) -> ToolPolicy:
        exact = self.rules.get(tool)
        if exact is not None:
            return exact
        for name, policy in self.rules.items():
            if _GLOB.search(name) and fnmatchcase(tool, name):
                return policy
        return self.default


def _check(name: str, policy: object) -> None:
    if isinstance(policy, str) and policy in _POLICIES:
        return
    near = get_close_matches(str(policy), _POLICIES, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ConfigError(f"{name} must be one of {', '.join(_POLICIES)}; got {policy!r}{hint}")


_FAILED_FLAGS: Final = ("is_error", "isError", "tool_call_error")
_SUCCESS_FLAGS: Final = ("success", "ok")
_FAILED_STATUS: Final = frozenset({"error", "failed", "failure"})
_EXIT_CODES: Final = ("exit_code", "exitCode", "returncode", "return_code")
_MORE: Final = ("metadata", "outcome")
"""Where some tools keep their exit code."""
TOOL_PREFIX: Final = "refold:tool:"
_LOOKED_AT_CHARS: Final = 400
_HEAD_SHARE: Final = 2 / 3
_AROUND_CHARS: Final = 200
"""How much of a long line is shown on either side of what was searched for."""
_CLUSTER: Final = 128
"""More characters than what a reader sees as one can have."""

_FAILED_START: Final = re.compile(
    r"""\s{0,20}(?:
        <(?:tool_use_)?error>
      | Traceback\ \(most\ recent\ call\ last\) | npm\ ERR! | panic: | fatal:
      | (?:fatal\ |internal\ |unexpected\ |tool\ |unhandled\ )?(?:error|exception)
        (?: \ (?:executing|calling|running|invoking|reading|writing|in|while|during|from)\b
              [^:\n]{0,120}
          | \ ?[\[(][^\])\n]{0,60}[\])] )?\ ?:
      | [\w.]{1,80}(?:Error|Exception)\ ?[:(]
      | (?:command|tool|execution|request)\b[^\n]{0,60}\bfailed\b
      | failed\ to\ \w
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_EXIT_LINE: Final = re.compile(
    r"^\W{0,3}(?:(?:process |command |shell )?(?:exited|finished|failed|completed) with "
    r"(?:exit )?(?:code|status)|exit[ _]?(?:code|status)|return[ _]?code)\W{1,3}(-?\d{1,10})\b",
    re.IGNORECASE | re.MULTILINE,
)


def _get(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def is_failure(value: object, get: Callable[[object, str], Any] = _get) -> bool:
    """Tell whether a result says by its fields that the tool failed; *get* reads a field."""
    if any(get(value, name) is True for name in _FAILED_FLAGS):
        return True
    if any(get(value, name) is False for name in _SUCCESS_FLAGS):
        return True
    error, status, kind = (get(value, name) for name in ("error", "status", "type"))
    if isinstance(error, str | Mapping) and error:
        return True
    if isinstance(status, str) and status.lower() in _FAILED_STATUS:
        return True
    if isinstance(kind, str) and kind in ("error", "error-text", "error-json"):
        return True
    holders = (value, *(get(value, name) for name in _MORE))
    codes = (get(holder, name) for holder in holders for name in _EXIT_CODES)
    return any(isinstance(code, int) and code != 0 for code in codes)


def is_failure_text(text: str) -> bool:
    """Tell whether *text* reads like the message of a failed tool.

    Looks at how it begins, at lines with an exit code at its ends, and at the fields of a JSON
    object; a text that only speaks of errors further down is a result like any other.
    """
    head, tail = text[:_LOOKED_AT_CHARS], text[-_LOOKED_AT_CHARS:]
    if _FAILED_START.match(head):
        return True
    if any(int(found[1]) for end in (head, tail) for found in _EXIT_LINE.finditer(end)):
        return True
    if not head.lstrip().startswith("{"):
        return False
    try:
        return is_failure(json.loads(text))
    except (ValueError, RecursionError):
        return False


def size(text: str) -> int:
    """Return the length of *text* in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def head_and_tail(text: str, max_bytes: int, handle: str = "") -> str:
    """Keep the beginning and the end: whole lines, unless they are very long."""
    room = max_bytes - size(_left_out(text, handle)) - 2
    head = _head(text, int(room * _HEAD_SHARE))
    tail = _tail(text[len(head) :], room - size(head))
    mark = _left_out(text[len(head) : len(text) - len(tail)], handle)
    return f"{head}{'' if head.endswith(chr(10)) else chr(10)}{mark}\n{tail}"


def _left_out(text: str, handle: str) -> str:
    whole = f"; whole result: #{handle}" if handle else ""
    return f"[… {text.count(chr(10))} lines, {size(text)} bytes left out{whole} …]"


def _head(text: str, room: int) -> str:
    """Return the beginning of *text* in at most *room* bytes."""
    data = text[:room].encode("utf-8", "surrogatepass")
    end = min(room, len(data))
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    raw = data[:end].decode("utf-8", "surrogatepass")
    border = raw.rfind("\n") + 1
    return raw[:border] if border * 2 >= len(raw) else cut(text, len(raw))


def _tail(text: str, room: int) -> str:
    """Return the end of *text* in at most *room* bytes."""
    data = text[-room:].encode("utf-8", "surrogatepass")
    start = max(len(data) - room, 0)
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    raw = data[start:].decode("utf-8", "surrogatepass")
    border = raw.find("\n") + 1
    if border and border * 2 <= len(raw):
        return raw[border:]
    window = text[-len(raw) - _CLUSTER :]
    place = len(window) - len(raw)
    while place < len(window) and len(cut(window, place)) < place:
        place += 1
    return window[place:]


def clip(text: str, chars: int) -> str:
    """Keep about *chars* characters of *text*, from both ends, if that is shorter."""
    head, tail = cut(text, chars - chars // 3), text[max(len(text) - chars // 3, 0) :]
    short = f"{head}… {len(text) - len(head) - len(tail)} chars left out …{tail}"
    return short if len(text) > chars and len(short) < len(text) else text


def tool_key(handle: str) -> str:
    """Name the place where the whole result with this handle is kept."""
    return TOOL_PREFIX + handle


def handle_of_text(text: str) -> str:
    """Derive a handle from a text: the same text, the same handle, on every machine."""
    return make_summary_id((), (text_digest(text),)).removeprefix(ID_PREFIX)


def search_lines(lines: Sequence[str], wanted: str, first: int) -> tuple[str, int]:
    """Return the lines with *wanted* and their neighbours as `grep -n` does, and how many hit."""
    pattern = re.compile(re.escape(wanted), re.IGNORECASE)
    hits = {place: hit for place, line in enumerate(lines) if (hit := pattern.search(line))}
    near = {place + step for place in hits for step in (-1, 0, 1)}
    shown: list[str] = []
    for place in sorted(near & set(range(len(lines)))):
        if shown and place - 1 not in near:
            shown.append("--")
        start, end = hits[place].span() if place in hits else (0, 0)
        left, right = max(start - _AROUND_CHARS, 0), end + _AROUND_CHARS
        text = lines[place][left:right] + ("…" if right < len(lines[place]) else "")
        shown.append(f"{first + place}{':' if place in hits else '-'} {'…' if left else ''}{text}")
    return "\n".join(shown), len(hits)
