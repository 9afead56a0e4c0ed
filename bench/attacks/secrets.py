"""Secrets on their way to a model: through every door there is, and into lists of names."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from attacks.base import Area, Check
from attacks.secret_frames import draw
from refold import CompressionManager, compress
from refold.conversation import ContextWindowManager
from refold.scan.secrets import find_secrets

_TRIES: Final = 20_000
_WHOLE_TRIES: Final = 400
_MAX_LEAKED: Final = 0.01
_MAX_FALSE: Final = 0.005
_MAX_GROWTH: Final = 2.5
_SIZES: Final = (20_000, 40_000, 80_000)
_MIN_SCALE_TIMED: Final = 0.5
"""Times of small runs say nothing."""

_WORDS: Final = (
    "the garden wall key was lost again and nobody knows the code of the old gate "
    "password managers store a token for each session while keys expire after a year "
    "we passed every test and the secret of good soil is patience in spring"
).split()
_HOSTILE: Final = (
    "a", "A", "-", "=", "token=", "token:", "password ", "password: ", "sk-", "eyJ-", "-eyJ",
    "hf_", "://a:", "://@", "?key=", "&sig=", "cookie: a=", "curl -u ", "machine x login ",
    "abandon ", "4 ", "4111 ", "|", "| password |\n", "password\n", '"password": "', "\\\"", "'",
    "`", "{", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n", "Private-Lines: 2\n",
    "密码", "пароль ", "bearer ", "authorization: ", "kind: secret\ndata:\n a: b\n",
    "AKIAFAKE1FAKE2FAKE3F ", "a\n", "a\\\n", "echo x|", "name=\"password\"\n\n", "password value=",
    "$2", "recovery codes: ", "recovery codes ab12-cd34 ", "ABCD EF12 ", "key 12345 ", "DE89 ",
    "DE89 3704 ", "ssn ", "ssn 1", "1 ", "1-", "passport A", "account number 1", "otp", "otpass",
    "rootp", "aB1", "aB1!", "aB1 pass ", "login a:", "a:b1", "a / b1 ", "admin / ", "connect('",
    "connect('a','b','", "fernet(", "fernet('", "('", "password.send ", "assword send '", " -u a ",
    " -u a -p ", "-a a:", "0" * 32 + " ", "0" * 31 + "g", "key " + "0" * 32 + "\n", "[1,",
    "[" + "1," * 16, "pbkdf2_sha256$", "password?\n", "password '", 'password "', "password is \"",
    "password a -> ", "passwords ", "$ANSIBLE_VAULT;\n0", "WIFI:P", "a * b *\n", "to to ",
    "{ssha}", "aA0/", "+/", "echo a|b ", "<password><a>", "('a', ", "code 1", "code 123 ",
    '", "abandon', "1. abandon\n", "pass word ", "?" + "a" * 64, "password: " + "a" * 300,
    "token=" + "1" * 300, '"kty" "d":"',
)  # fmt: skip


def run(scale: float, seed: int) -> Area:
    """Try every door with made-up secrets; at full scale also see how the time grows."""
    numbers = random.Random(seed)
    checks = [_found(numbers, scale), _false_alarms(numbers, scale)]
    checks += [_sent(name, door, numbers, scale) for name, door in _DOORS.items()]
    checks.append(_named(numbers, scale))
    if scale >= _MIN_SCALE_TIMED:
        checks.append(_growth())
    return Area("secrets", checks)


def _found(numbers: random.Random, scale: float) -> Check:
    check = Check("found in a text", allowed_share=_MAX_LEAKED)
    for _ in range(max(1, int(_TRIES * scale))):
        text, secret, frame = draw(numbers)
        start = text.index(secret)
        spans = find_secrets(text)
        is_hidden = any(a <= start and start + len(secret) <= b for a, b in spans)
        check.record(not is_hidden, f"{frame!r} with {secret!r}")
    return check


def _false_alarms(numbers: random.Random, scale: float) -> Check:
    check = Check("false alarms in prose", allowed_share=_MAX_FALSE)
    for _ in range(max(1, int(_TRIES * scale))):
        text = " ".join(numbers.choices(_WORDS, k=numbers.randint(5, 60))) + "."
        check.record(bool(find_secrets(text)), text)
    return check


def _sent(name: str, door: Callable[[str], str], numbers: random.Random, scale: float) -> Check:
    check = Check(f"sent to {name}", allowed_share=_MAX_LEAKED)
    has_listened = False
    for _ in range(max(10, int(_WHOLE_TRIES * scale))):
        text, secret, frame = draw(numbers)
        heard = door(text)
        has_listened |= bool(heard)
        check.record(secret in heard, f"{frame!r} with {secret!r}")
    if not has_listened:
        check.record(is_broken=True, example="nobody was asked: this says nothing")
    return check


def _named(numbers: random.Random, scale: float) -> Check:
    check = Check("named beside a summary", allowed_share=_MAX_LEAKED)
    for _ in range(max(1, int(_WHOLE_TRIES * scale))):
        text, secret, frame = draw(numbers)
        for message in compress(_talk(text), profile="classic", recency_window=0).messages:
            _, _, entities = str(message["content"]).partition(" | entities: ")
            check.record(secret in entities, f"{frame!r} with {secret!r}")
    return check


def _growth() -> Check:
    """Double hostile texts; a text that is done at once says nothing about growth."""
    check = Check("time grows with the text")
    for unit in _HOSTILE:
        times = _times(unit)
        if _ratio(times) > _MAX_GROWTH:  # what grows does so again; what was disturbed does not
            times = min(times, _times(unit), key=_ratio)
        told = f"{unit!r}: {[round(t, 3) for t in times]} s"
        check.record(_ratio(times) > _MAX_GROWTH, told)
    return check


def _times(unit: str) -> list[float]:
    return [_seconds(unit * (size // len(unit))) for size in _SIZES]


def _ratio(times: Sequence[float]) -> float:
    """Return how many times as long a text of twice the length takes."""
    ratio: float = (times[-1] / max(times[0], 0.002)) ** (1 / (len(times) - 1))
    return ratio


def _seconds(text: str) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        find_secrets(text)
        best = min(best, time.process_time() - started)
    return best


_FILLER: Final = "The gauge behind the long wall was read again, and it said the same as before. "


def _talk(text: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": f"{_FILLER * 6}\n{text}\n{_FILLER * 6}"},
        {"role": "assistant", "content": "Noted."},
    ]


class _Heard:
    """A model that writes down what it hears."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def __call__(self, said: Any) -> str:
        self.words.append(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))
        return "It said the same as before."

    @property
    def all(self) -> str:
        return "\n".join(self.words)


def _summarizer(text: str) -> str:
    heard = _Heard()
    compress(_talk(text), profile="classic", summarizer=heard, recency_window=0)
    return heard.all


def _manager(result: str, arguments: str, task: str) -> str:
    heard = _Heard()
    call = {"name": "read", "arguments": arguments}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": task},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": f"{_FILLER * 12}\n{result}"},
        {"role": "assistant", "content": "Done."},
    ]
    CompressionManager(generate=heard, keep_recent=0).compress(messages)
    return heard.all


def _window(text: str) -> str:
    heard = _Heard()
    turns = [
        {"role": role, "content": f"{n}. {_FILLER * 8}\n{text if n == 1 else ''}"}
        for n in range(6)
        for role in ("user", "assistant")
    ]
    manager = ContextWindowManager(context_limit=900, reserve_output_tokens=100, llm=heard)
    manager.fit(turns)
    return heard.all


_DOORS: Final[dict[str, Callable[[str], str]]] = {
    "a summarizer": _summarizer,
    "the manager's model, in a result": lambda text: _manager(text, "{}", "Look."),
    "the manager's model, in arguments": lambda text: _manager(
        "", json.dumps({"c": text}), "Look."
    ),
    "the manager's model, in the task": lambda text: _manager("", "{}", f"Look. {text}"),
    "the window's model": _window,
}
"""From a text to all that a model has heard of it."""
