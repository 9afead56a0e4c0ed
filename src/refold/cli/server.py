"""`refold install`, `uninstall`, `doctor`, `hook`, `mcp`, `serve` and `wrap`: agents and the proxy.

Everything they do is in `refold.server`, which is loaded when a command runs.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from refold.checks import need
from refold.cli.options import command, help_of
from refold.cli.terminal import clean, table
from refold.errors import ConfigError
from refold.private_files import data_file
from refold.server.agents import PARTS, fill, find_places, known_agents, refold_command
from refold.stores.opening import open_store

_AGENT: Final = ("[AGENT]", "", click.Choice(list(known_agents())))
_STORE: Final = ("--store STORE", "Where originals are; the data folder by default.")
_SIGNS: Final = {"works": "ok", "broken": "!!", "absent": "--"}


@command(
    agent=_AGENT,
    hook=("--hook", "Shorten tool output as it arrives."),
    mcp=("--mcp", "Offer originals to the model."),
    proxy=("--proxy", "Send requests through refold serve."),
    service=("--service", "Keep refold serve running; for all agents."),
    port=("--port N", "The port of refold serve."),
    project=("--project", "Only for the project in this folder."),
    is_list=("--list", "Show the agents that refold knows."),
)
def install_command(
    *,
    agent: str | None,
    service: bool,
    port: int = 8787,
    project: bool,
    is_list: bool,
    **parts: bool,
) -> None:
    """Set up a coding agent to use refold; can be undone.

    Examples:
      refold install --list
      refold install claude
      refold install claude --proxy --port 8787
      refold install codex --mcp
      refold install --service

    hook     shortens tool output before the model sees it (claude), and restores
             what a compaction has lost (claude, codex)
    mcp      lets the model fetch originals; needs pip install 'refold[mcp]'
    proxy    sends requests through refold serve, which has to be running
    service  starts refold serve at every login
    By default, claude and codex get the hook, and mcp if it is installed. For
    other agents, it may only say what to set by hand.
    refold uninstall undoes all of it.
    """
    from refold.server.install import install, install_service, start_command

    if is_list:
        agents = [one.summary for one in known_agents().values()]
        rows = [("AGENT", "INSTALL", "WRAP", "TRIED WITH"), *agents]
        click.echo("\n".join(line.strip() for line in table(rows, left=4)))
        return
    places = find_places(sys.platform, os.environ, Path.cwd() if project else None)
    if service:
        need("aiohttp", "serve", what="--service")
        written = install_service(places, port=port)
        click.echo(f"{written.what} {written.path}")
        click.echo(f"start it: {start_command(written.path)}")
        if agent is None:
            return
    if agent is None:
        raise click.UsageError("name an AGENT; refold install --list shows them")
    row = known_agents()[agent]
    chosen = [part for part in PARTS if parts[part]]
    if "mcp" in chosen:
        need("mcp", "mcp", what="--mcp")
    if not chosen and "hook" in row.parts:
        chosen = ["hook", "mcp"] if importlib.util.find_spec("mcp") else ["hook"]
    elif not chosen and row.parts:
        options = " or ".join(f"--{part}" for part in reversed(row.parts))
        raise click.UsageError(f"for {row.name}, choose {options}")
    elif not chosen:
        click.echo(f"{row.title}: {fill(row.by_hand, f'http://127.0.0.1:{port}')}")
        return
    done, has = install(row, chosen, places, port=port)
    for one in done:
        click.echo(f"{one.what} {one.path}")
    click.echo(f"{row.name} now has: {', '.join(has)}; refold uninstall undoes it")


@command(agent=_AGENT, service=("--service", "Only the service."))
def uninstall_command(*, agent: str | None, service: bool) -> None:
    """Restore the settings of coding agents byte for byte.

    Examples:
      refold uninstall
      refold uninstall codex
      refold uninstall --service
    """
    from refold.server.install import SERVICE, stop_command, uninstall

    named = [name for name in (agent, SERVICE if service else None) if name]
    done = uninstall(named or [SERVICE, *known_agents()], find_places(sys.platform, os.environ))
    for one in done:
        click.echo(f"{one.path}: {one.what}")
        if one.path.suffix in (".service", ".plist"):
            click.echo(f"if it still runs, stop it: {stop_command(one.path)}")
    if not done:
        click.echo("nothing was installed")


@command()
def doctor_command() -> int:
    """Check what is set up for coding agents.

    Examples:
      refold doctor

    Exits with 1 if something that is set up does not work.
    """
    from refold.server.doctor import examine

    is_broken = False
    for check in examine(find_places(sys.platform, os.environ)):
        is_broken = is_broken or check.state == "broken"
        click.echo(clean(f"{_SIGNS[check.state]} {check.what}: {check.detail}".rstrip(": ")))
    return int(is_broken)


_HOOK: Final = """Run a hook of a coding agent; the agent calls this.

Examples:
  refold install claude --hook
  refold hook post-tool-use --profile standard < event.json"""
hook_command = click.Group("hook", **help_of(_HOOK))
_PATIENT: Final = {"ignore_unknown_options": True, "allow_extra_args": True}
"""Not even an unknown option may block the agent."""


@command(
    hook_command,
    context=_PATIENT,
    profile=("--profile VALUE", "lossless (the default) or standard."),
    max_tokens=("--max-tokens VALUE", "Most tokens of an excerpt, with --profile standard."),
    store=_STORE,
)
def post_tool_use(*, profile: str = "lossless", max_tokens: str | None, store: str | None) -> None:
    """Shorten a tool's output before the model sees it.

    Reads the event on standard input and writes the answer, or nothing where the output stays as it
    is. Whatever goes wrong, it exits with 0 and writes nothing; `refold doctor` shows the counts.
    """
    from refold.server.hook import MAX_TOKENS, run_hook

    place, most = store or data_file(sys.platform, os.environ), max_tokens or str(MAX_TOKENS)
    answer = run_hook(sys.stdin.buffer, store=place, profile=profile, max_tokens=most)
    click.echo(answer, nl=False)


@command(hook_command, context=_PATIENT, store=_STORE)
def session_start(*, store: str | None) -> None:
    """Restore what was asked, said and planned after /compact.

    Reads the event on standard input and writes at most 1,000 tokens: a fold of the session, and
    how to ask for the rest of it. Whatever goes wrong, it exits with 0 and writes nothing.
    """
    from refold.server.compaction import run_compaction_hook

    place = store or data_file(sys.platform, os.environ)
    click.echo(run_compaction_hook(sys.stdin.buffer, store=place), nl=False)


@command(
    is_http=("--http", "Streamable HTTP instead of stdio."),
    port=(
        "--port N",
        "For --http, on the loopback interface; 0 takes a free one.",
        click.IntRange(0, 65_535),
    ),
    store=_STORE,
)
def mcp_command(*, is_http: bool, port: int = 8788, store: str | None) -> None:
    """Serve originals, shortening and counts over MCP.

    Examples:
      refold install claude --mcp
      refold mcp --http --port 8788

    Needs the official SDK: pip install 'refold[mcp]'.
    """
    from refold.server.mcp import Tools, serve_http, serve_stdio

    with closing(Tools(store or data_file(sys.platform, os.environ))) as tools:
        if is_http:
            serve_http(tools, port)
        else:
            serve_stdio(tools)


_PROXY: Final[dict[str, Any]] = {
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
    **_PROXY,
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
    import asyncio
    import logging

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
    **_PROXY,
    program=("PROGRAM...", "", click.UNPROCESSED),
)
def wrap_command(*, program: tuple[str, ...], **proxy: Any) -> int:
    """Run a program with a proxy of its own; show what was saved.

    Examples:
      refold wrap -- claude
      refold wrap --budget 60000 -- codex exec "fix the tests"
      REFOLD_PROFILE=lossless refold wrap -- python agent.py

    The proxy is refold serve on a free port, for as long as the program runs. The
    program finds it through ANTHROPIC_BASE_URL, OPENAI_BASE_URL and
    GOOGLE_GEMINI_BASE_URL, known agents (refold install --list) also through
    variables of their own. If one of these is already set, the proxy forwards to
    that address. Every option can also be set in the environment:
    REFOLD_PROFILE, REFOLD_TOKEN_BUDGET, REFOLD_EXCLUDE_TOOLS, REFOLD_TOOL_LIMITS,
    REFOLD_TTL, REFOLD_STORE, REFOLD_RETRIEVE, REFOLD_FOLD_MS, REFOLD_CONFIG,
    REFOLD_SHOW_CONTENT. The exit code is that of the program.
    """
    from refold.server.proxy.summary import summarize
    from refold.server.wrap import run_wrapped

    settings = {f"REFOLD_{name.upper()}": str(one) for name, one in _chosen(proxy).items()}
    serve = refold_command("serve", "--port", "0")
    ended = run_wrapped(program, os.environ, proxy=serve, settings=settings)
    click.echo("refold: " + "\n        ".join(summarize(ended.stats)), err=True)
    return ended.code
