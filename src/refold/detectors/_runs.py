"""Whether a text has a long run of certain characters: shared by the detectors of long words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunTest:
    """A test for runs that is ten times faster than a pattern that finds nothing.

    The text is mapped byte by byte to "one of the characters" or "another one"; then a run is a
    plain substring. The characters must be ASCII.
    """

    table: bytes
    run: bytes

    def holds(self, text: str) -> bool:
        """Tell whether *text* has such a run."""
        return self.run in text.encode("utf-8", "surrogatepass").translate(self.table)


def run_test(characters: str, length: int) -> RunTest:
    """Make the test for *length* or more of *characters* in a row."""
    members = characters.encode("ascii")
    table = bytes(1 if byte in members else 0 for byte in range(256))
    return RunTest(table=table, run=b"\x01" * length)
