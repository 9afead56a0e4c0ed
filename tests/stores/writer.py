"""Run as a process of its own: puts pairs until it is done or killed, printing each that is in."""

from __future__ import annotations

import sys

from refold.stores import SqliteStore


def main(path: str, name: str, pairs: int) -> None:
    with SqliteStore(path) as store:
        for i in range(pairs):
            value = {"name": name, "i": i, "text": "x" * 3_000}
            store.put({f"{name}/{i}/left": value, f"{name}/{i}/right": value, f"shared/{i}": i})
            print(i, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
