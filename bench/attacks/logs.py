"""Broken requests with a key somewhere in them: it never comes out of the proxy."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from attacks.base import Area, Check
from attacks.proxied import ask_raw, head, providing, serving

_KEY = b"sk-marked-0123456789abcdef"
_BREAKS = (b"\x00", b"\x7f", b"\x0b", b"\r", b"\n", b"\r\n ", b" ", b":", b"\xff", b"%zz", b"\x80")
_PATHS = ("/v1/messages", "/v1/compress", "/v1/chat/completions", "/v1/models", "/", "/stats")
_BODIES = (
    b'{"model": "m", "messages": [{"role": "%s", "content": 1}]}',
    b'{"model": "m", "messages": [{"role": "user", "content": "%s"',
    b'{"model": "%s", "messages": {}}',
    b'{"messages": [{"role": "user", "content": [{"type": "%s"}]}]}',
    b"%s",
)


def run(scale: float, seed: int) -> Area:
    """Send what a fuzzer makes of requests; search every byte that comes out."""
    rng = random.Random(seed)
    answers = Check("no answer has a word of it")
    printed = Check("nothing printed has a word of it")
    kept = Check("nothing kept has a word of the headers")
    for is_there in (True, False):
        with tempfile.TemporaryDirectory() as name, providing() as provider:
            folder = Path(name)
            url = provider.url if is_there else "http://127.0.0.1:1"
            with serving(url, folder, "--fold-ms", "5000") as proxy:
                for _ in range(max(30, int(5_000 * scale))):
                    sent = _broken(rng)
                    before = len(proxy.printed)
                    answers.record(_KEY in ask_raw(proxy.url, sent), repr(sent[:200]))
                    printed.record(_KEY in proxy.printed[before:], repr(sent[:200]))
            printed.record(_KEY in proxy.printed, "in all that was printed")
            for file in folder.iterdir():
                kept.record(_KEY in file.read_bytes(), file.name)
    return Area("logs", [answers, printed, kept])


def _broken(rng: random.Random) -> bytes:
    """Return a request with the key in one place or several, and some bytes wrong near it."""
    path = rng.choice(_PATHS)
    if rng.random() < 0.3:
        path += f"?key={_KEY.decode()}"
    headers = {"authorization": f"Bearer {_KEY.decode()}", "x_api_key": _KEY.decode()}
    headers = dict(rng.sample(sorted(headers.items()), rng.randrange(3)))
    body = b""
    if rng.random() < 0.3:  # bodies are kept where they can be read: these cannot
        body = rng.choice(_BODIES).replace(b"%s", _KEY)
        body = body[: rng.randrange(1, len(body))] + rng.choice(_BREAKS)
        headers["content_length"] = rng.choice([str(len(body)), "9", _KEY.decode(), "-1"])
    request = head(rng.choice(["GET", "POST", _KEY.decode()]), path, **headers) + body
    for _ in range(rng.randrange(1, 4)):
        places = [at for at in range(len(request)) if request.startswith(_KEY, at)]
        near = rng.choice(places) if places else 0
        at = max(0, near + rng.randrange(-20, len(_KEY) + 20))
        if near <= at < near + len(_KEY):
            continue  # the key itself stays whole, to be found again
        request = request[:at] + rng.choice(_BREAKS) + request[at + rng.randrange(2) :]
    return request
