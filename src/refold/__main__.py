"""Run the command line with `python -m refold`."""

from __future__ import annotations

import sys

from refold.cli import main

if __name__ == "__main__":
    sys.exit(main())
