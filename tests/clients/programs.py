"""The real programs, as `make test-clients` installs them; `python -m tests.clients.programs`."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

FOLDER = Path("build/clients").resolve()


def find_claude() -> Path | None:
    """Return the program that the wheel of the Agent SDK brings along."""
    found = importlib.util.find_spec("claude_agent_sdk")
    if found is None or found.origin is None:
        return None
    program = Path(found.origin).parent / "_bundled" / "claude"
    return program if program.exists() else None


def find_codex() -> Path | None:
    """Return the program of the npm package, without the script that starts it."""
    folder = Path(os.environ.get("CLIENTS", FOLDER)) / "node_modules" / "@openai"
    return next(iter(sorted(folder.glob("codex-*/vendor/*/bin/codex"))), None)


def main() -> int:
    """Say what is missing: a test that is skipped proves nothing."""
    wanted = {"claude": find_claude(), "codex": find_codex()}
    missing = [name for name, program in wanted.items() if program is None]
    missing += [name for name in ("mcp", "aiohttp") if importlib.util.find_spec(name) is None]
    print(f"missing: {', '.join(missing)}" if missing else f"found: {wanted}", file=sys.stderr)
    return len(missing)


if __name__ == "__main__":
    sys.exit(main())
