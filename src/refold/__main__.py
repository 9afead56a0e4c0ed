"""Start the command line: the command `refold`, and `python -m refold`."""

from __future__ import annotations

import sys

_HELP = {"-h", "--help"}


def main() -> int:
    """Run the command line; who interrupts it while it loads sees no traceback, as later on.

    The hook runs after every call of a tool, so it does without click, which takes as long to load.
    """
    try:
        if sys.argv[1:3] == ["hook", "post-tool-use"] and not _HELP.intersection(sys.argv):
            from refold.server.hook import answer_on_standard_output

            return answer_on_standard_output(sys.argv[3:])
        from refold.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("refold: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
