"""`refold serve`: a proxy that folds what programs send to a provider."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import click

from refold.errors import ConfigError
from refold.gone import GONE_FLAGS
from refold.stores.opening import open_store

_EPILOG = """\b
Examples:
  refold serve
  ANTHROPIC_BASE_URL=http://127.0.0.1:8787 claude
  OPENAI_BASE_URL=http://127.0.0.1:8787/v1 python agent.py
  refold serve --retrieve off --store team.db --port 9000
  REFOLD_TOKEN=… refold serve --host 0.0.0.0

\b
Every option can also be set in the environment: REFOLD_PORT, REFOLD_STORE, …
A page with all figures is at the address that is printed."""


def _refuse(_context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Refuse an option that is gone; `wrap` would take it for the program otherwise."""
    if value is not None:
        raise click.UsageError(f"{option.opts[0]} is gone: {GONE_FLAGS[option.opts[0]]}")


_OPTIONS: Final = (
    click.option("--anthropic", "anthropic_url", metavar="URL", help="Where Anthropic's API is."),
    click.option("--openai", "openai_url", metavar="URL", help="Where OpenAI's API is."),
    click.option("--gemini", "gemini_url", metavar="URL", help="Where Gemini's API is."),
    click.option(
        "--store", metavar="STORE", help="Where originals are kept. [refold.db in the data folder]"
    ),
    click.option(
        "--retrieve",
        type=click.Choice(["inline", "mcp", "off"]),
        help="Who answers when the model asks for an original. [inline]",
    ),
    click.option(
        "--profile", type=click.Choice(["standard", "lossless"]), help="How to fold. [standard]"
    ),
    click.option(
        "--budget",
        "--token-budget",
        "token_budget",
        metavar="BUDGET",
        help="When to fold: auto, careful, tight, a share (30%) or a number of tokens. [auto]",
    ),
    click.option(
        "--exclude-tool",
        "exclude_tools",
        metavar="NAME",
        multiple=True,
        callback=lambda _context, _option, names: ",".join(names) or None,
        help="A tool, or a pattern of names, whose results stay as they are; more than once.",
    ),
    click.option(
        "--tool-limit",
        "tool_limits",
        metavar="NAME=TOKENS",
        multiple=True,
        callback=lambda _context, _option, limits: ",".join(limits) or None,
        help="The most tokens of a new result of a tool, or of a pattern; more than once.",
    ),
    click.option(
        "--ttl",
        type=click.Choice(["5m", "1h"]),
        help="How long caches last that the client asks for without saying.",
    ),
    click.option("--fold-ms", type=int, help="Milliseconds that a request may wait. [200]"),
    click.option(
        "--show-content",
        is_flag=True,
        default=None,
        help="Let the page show what conversations say; on loopback only.",
    ),
    click.option("--workers", hidden=True, expose_value=False, callback=_refuse),
    click.option("--config", metavar="FILE", help="Settings in TOML; read again at SIGHUP."),
)


def proxy_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the proxy, which `serve` and `wrap` have in common."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(epilog=_EPILOG)
@click.option("--host", help="Address to listen on; any but loopback needs REFOLD_TOKEN.")
@click.option("--port", type=int, help="Port to listen on; 0 takes a free one. [8787]")
@proxy_options
def command(**choices: Any) -> None:
    """Run a proxy that folds what programs send to a provider."""
    from refold.server.proxy.settings import Settings

    try:
        settings = Settings.from_env(os.environ, **choices)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    try:
        from refold.server.proxy.proxy import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("aiohttp", "multidict", "yarl"):
            raise
        raise ConfigError(
            "refold serve needs aiohttp, which is not installed: pip install 'refold[serve]'"
        ) from error
    if settings.store:
        open_store(
            settings.store
        ).close()  # fail now: later, every request would go through unfolded
    handler = logging.StreamHandler()
    handler.addFilter(logging.Filter("refold"))  # others may quote a request, with a key in it
    logging.basicConfig(level=logging.WARNING, format="refold: %(message)s", handlers=[handler])
    try:
        again = partial(Settings.from_env, os.environ, **choices)
        summary = asyncio.run(serve(settings, click.echo, again))
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigError(f"cannot listen on {where}: {reason}; choose another --port") from error
    click.echo("refold: " + "\n        ".join(summary), err=True)
