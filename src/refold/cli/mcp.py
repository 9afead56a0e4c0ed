"""`refold mcp`: a server for clients of the Model Context Protocol."""

from __future__ import annotations

import os
import sys
from contextlib import closing

import click

from refold.private_files import data_file

_EPILOG = """\b
Examples:
  refold install claude --mcp
  refold mcp --http --port 8788

\b
Needs the official SDK: pip install 'refold[mcp]'."""


@click.command(epilog=_EPILOG)
@click.option("--http", "is_http", is_flag=True, help="Streamable HTTP instead of stdio.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8788,
    show_default=True,
    help="For --http, on the loopback interface; 0 takes a free one.",
)
@click.option("--store", metavar="STORE", help="Where originals are; the data folder by default.")
def command(*, is_http: bool, port: int, store: str | None) -> None:
    """Serve originals, shortening and counts over MCP."""
    from refold.server.mcp import Tools, serve_http, serve_stdio

    place = store or data_file(sys.platform, os.environ)
    with closing(Tools(place)) as tools:
        if is_http:
            serve_http(tools, port)
        else:
            serve_stdio(tools)
