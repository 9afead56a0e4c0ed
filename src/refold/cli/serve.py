"""`refold serve` and `refold wrap`: the proxy, for whoever asks or for a single program."""

from __future__ import annotations

import asyncio
import logging
import os
from functools import partial
from typing import Any, Final

import click

from refold.checks import need
from refold.cli.options import command
from refold.errors import ConfigError
from refold.stores.opening import open_store

_ROWS: Final[dict[str, Any]] = {
    "anthropic_url": ("--anthropic URL", "Address of Anthropic's API."),
    "openai_url": ("--openai URL", "Address of OpenAI's API."),
    "gemini_url": ("--gemini URL", "Address of Gemini's API."),
    "store": ("--store STORE", "Where originals are kept. [refold.db in the data folder]"),
    "retrieve": (
        "--retrieve WHO",
        "Who answers when the model asks for an original: inline, or off. [inline]",
    ),
    "profile": ("--profile standard|lossless", "How to fold. [standard]"),
    "token_budget": (
        "--budget BUDGET",
        "When to fold: auto, careful, tight, a share (30%) or a number of tokens. [auto]",
    ),
    "exclude_tools": (
        "--exclude-tool NAME...",
        "Leave the results of this tool, or pattern of names, alone; may be repeated.",
    ),
    "tool_limits": (
        "--tool-limit NAME=TOKENS...",
        "The most tokens of a new result of this tool, or pattern; may be repeated.",
    ),
    "ttl": ("--ttl 5m|1h", "Lifetime of caches for which the client names none."),
    "fold_ms": ("--fold-ms N", "Milliseconds that a request may wait. [200]"),
    "show_content": ("--show-content", "Let the page show conversations; on loopback only."),
    "config": ("--config FILE", "Settings in TOML; read again at SIGHUP."),
}
"""The options of the proxy, which `serve` and `wrap` have in common."""


def _chosen(choices: dict[str, Any]) -> dict[str, Any]:
    """Return what the command line says; a list of names is one setting, with commas."""
    joined = {n: ",".join(v) if isinstance(v, tuple) else v for n, v in choices.items()}
    return {n: v for n, v in joined.items() if v is not False and v not in (None, "")}


@command(
    host=("--host ADDRESS", "Address to listen on; any but loopback needs REFOLD_TOKEN."),
    port=("--port N", "Port to listen on; 0 takes a free one. [8787]"),
    **_ROWS,
)
def serve_command(**proxy: Any) -> None:
    """Run a proxy that folds requests to a provider.

    Examples:
      refold serve
      ANTHROPIC_BASE_URL=http://127.0.0.1:8787 claude
      OPENAI_BASE_URL=http://127.0.0.1:8787/v1 python agent.py
      refold serve --retrieve off --store team.db --port 9000
      REFOLD_TOKEN=… refold serve --host 0.0.0.0

    Every option can also be set in the environment: REFOLD_PORT, REFOLD_STORE, …
    A page with all figures is at the address that is printed.
    """
    from refold.server.proxy.settings import Settings

    read = partial(Settings.from_env, os.environ, **_chosen(proxy))
    try:
        settings = read()
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    need("aiohttp", "serve", what="refold serve")
    from refold.server.proxy.proxy import serve

    if settings.store:  # fail now: later, every request would go through unfolded
        open_store(settings.store).close()
    handler = logging.StreamHandler()
    handler.addFilter(logging.Filter("refold"))  # others may quote a request, with a key in it
    logging.basicConfig(level=logging.WARNING, format="refold: %(message)s", handlers=[handler])
    try:
        summary = asyncio.run(serve(settings, click.echo, read))
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigError(f"cannot listen on {where}: {reason}; choose another --port") from error
    click.echo("refold: " + "\n        ".join(summary), err=True)


@command(
    context={"allow_interspersed_args": False},
    **_ROWS,
    program=("PROGRAM...", "", click.UNPROCESSED),
)
def wrap_command(*, program: tuple[str, ...], **proxy: Any) -> int:
    """Run a program with a proxy of its own; show what was saved.

    Examples:
      refold wrap -- claude
      refold wrap --budget 60000 -- codex exec "fix the tests"
      REFOLD_PROFILE=lossless refold wrap -- python agent.py

    The proxy is refold serve on a free port, for as long as the program runs. The
    program finds it by ANTHROPIC_BASE_URL, OPENAI_BASE_URL and
    GOOGLE_GEMINI_BASE_URL, and an agent that refold knows by what that one reads
    (refold install --list); where these are set, that is where the proxy sends
    requests on to. Every option can also be set in the environment:
    REFOLD_PROFILE, REFOLD_TOKEN_BUDGET, REFOLD_EXCLUDE_TOOLS, REFOLD_TOOL_LIMITS,
    REFOLD_TTL, REFOLD_STORE, REFOLD_RETRIEVE, REFOLD_FOLD_MS, REFOLD_CONFIG,
    REFOLD_SHOW_CONTENT. The exit code is that of the program.
    """
    from refold.server.agents import refold_command
    from refold.server.proxy.summary import summarize
    from refold.server.wrap import run_wrapped

    settings = {f"REFOLD_{name.upper()}": str(one) for name, one in _chosen(proxy).items()}
    serve = refold_command("serve", "--port", "0")
    ended = run_wrapped(program, os.environ, proxy=serve, settings=settings)
    click.echo("refold: " + "\n        ".join(summarize(ended.stats)), err=True)
    return ended.code
