"""The proxy at work, offline: a scripted provider, `refold serve`, and an agent that reads logs.

    make demo-serve            # or: python -m examples.serve_demo --stay 60

Prints what the agent sent and what arrived at the provider, turn by turn, and where the page is.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anthropic
from tests.server.proxy.running import log_of
from tests.server.upstream import Call, Say, ScriptedUpstream

TURNS = 12
TOOL: Any = {
    "name": "read_log",
    "description": "Reads a log.",
    "input_schema": {"type": "object"},
}


def run_agent(url: str, upstream: ScriptedUpstream, *, pause: float = 0.0) -> str:
    """Let an agent work through the proxy at *url*; return its last words."""
    upstream.script.extend(Call("read_log", {"n": n}, text="I look at it.") for n in range(TURNS))
    upstream.script.append(Say("Nothing is wrong with any of them."))
    messages: list[Any] = [{"role": "user", "content": "Which of the services is in trouble?"}]
    print(f"{'turn':>4}  {'agent sent':>12}  {'provider got':>12}")
    with anthropic.Anthropic(base_url=url, api_key="sk-ant-demo", max_retries=0) as client:
        while True:
            with client.messages.stream(
                model="claude-sonnet-5", max_tokens=1_000, tools=[TOOL], messages=messages
            ) as stream:
                answer = stream.get_final_message()
            said = [block.model_dump(exclude_none=True) for block in answer.content]
            sent, got = len(str(messages)), len(str(upstream.requests[-1].messages))
            print(f"{len(upstream.requests):>4}  {sent:>11,}c  {got:>11,}c", flush=True)
            messages.append({"role": "assistant", "content": said})
            calls = [block.id for block in answer.content if block.type == "tool_use"]
            if not calls:
                return str(said[-1]["text"])
            messages.append(
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": id_,
                            "content": log_of(90, len(messages)),
                        }
                        for id_ in calls
                    ],
                }
            )
            time.sleep(pause)


def main() -> None:
    """Show it all, and leave the page open for a while."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--stay", type=float, default=30.0, help="seconds that the page stays (30)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ScriptedUpstream() as upstream:
        store = str(Path(folder) / "originals.db")
        command = [sys.executable, "-m", "refold", "serve", "--port", "0", "--store", store]
        with subprocess.Popen(
            [*command, "--show-content", "--anthropic", upstream.url],
            stdout=subprocess.PIPE,
            text=True,
        ) as proxy:
            assert proxy.stdout is not None
            url = proxy.stdout.readline().split()[-1]
            print(f"the page with all figures: {url}/\n")
            try:
                print(f"\nagent: {run_agent(url, upstream, pause=0.2)}")
                upstream.check_prefixes()
                print("every request began with the one before, byte for byte")
                if arguments.stay:
                    print(f"look at {url}/ for {arguments.stay:.0f} seconds (Ctrl-C ends)")
                    time.sleep(arguments.stay)
            except KeyboardInterrupt:
                print()
            finally:
                proxy.terminate()


if __name__ == "__main__":
    main()
