"""Start the command line: the command `refold`, and `python -m refold`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; who interrupts it while it loads sees no traceback, as later on."""
    try:
        from refold.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("refold: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
