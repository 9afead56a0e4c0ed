"""A proxy that only counts: `python -m tests.server.proxy_stub`, as `refold wrap` starts one."""

from __future__ import annotations

import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COUNTS = {"requests": 0, "tokens_before": 1_000, "tokens_after": 400, "tokens_saved": 600}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path != "/stats":
            COUNTS["requests"] += 1
        seen = {name: value for name, value in os.environ.items() if name.startswith("REFOLD_")}
        body = json.dumps({**COUNTS, "money": {"saved": 0.0125}, "errors": 0, "env": seen}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    ended = Path(sys.argv[1])

    def end(*_: object) -> None:
        ended.write_text("ended")
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
