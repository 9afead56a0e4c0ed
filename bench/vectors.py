"""Replay recorded calls of context-compression-engine 1.5.0 and explain every difference.

PATH is a file with one JSON object a line, {fn, args, result} or {fn, args, error, message}; it may
be compressed with gzip.

examples:
  python bench/vectors.py engine.jsonl.gz
  python bench/vectors.py engine.jsonl.gz --verbose
  python bench/vectors.py engine.jsonl.gz --json > agreement.json
  python bench/vectors.py engine.jsonl.gz --page > docs/differences.md
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from attribution import UNEXPLAINED, Cause, count_by_cause, explain
from replay import Check, UnsupportedError, replay
from table import draw, share

TARGETS: Final[Mapping[str, float]] = {"classifyMessage": 0.95, "compress": 0.95}
"""Least agreement of decisions, not counting differences that the specification asks for."""


@dataclass(slots=True)
class Tally:
    """What came out for one function."""

    number: int = 0
    agreed: int = 0
    with_reason: int = 0
    reasons_agreed: int = 0
    decision_causes: list[Cause] = field(default_factory=list)
    """Why decisions differ."""
    reason_causes: list[Cause] = field(default_factory=list)
    """Why only reasons differ."""
    unexplained: list[tuple[int, Check]] = field(default_factory=list)

    def add(self, line: int, check: Check) -> None:
        """Count one comparison."""
        self.number += 1
        self.agreed += check.same_decision
        self.with_reason += check.has_reason
        self.reasons_agreed += check.has_reason and check.same_reason
        if check.same_decision and (check.same_reason or not check.has_reason):
            return
        cause = explain(check)
        (self.reason_causes if check.same_decision else self.decision_causes).append(cause)
        if not cause.is_asked_for:
            self.unexplained.append((line, check))

    @property
    def counted(self) -> int:
        """How many decisions count: all but those that the specification wants different."""
        return self.number - sum(cause.is_asked_for for cause in self.decision_causes)


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, report, and return 1 if a target is missed."""
    arguments = _parse(argv)
    tallies: dict[str, Tally] = {}
    skipped: Counter[str] = Counter()
    for line, vector in enumerate(_read(arguments.path), 1):
        try:
            for check in replay(vector):
                tallies.setdefault(check.group, Tally()).add(line, check)
        except UnsupportedError as missing:
            skipped[f"{vector['fn']}: {missing}"] += 1
    missed = [name for name, least in TARGETS.items() if _is_below(tallies, name, least)]
    if arguments.page:
        print(_page(tallies, skipped), end="")
    elif arguments.json:
        print(json.dumps(_as_json(tallies, skipped, missed), indent=2, ensure_ascii=False))
    else:
        print(_report(tallies, skipped, missed, verbose=arguments.verbose))
    return int(bool(missed))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, examples = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="recorded vectors, .jsonl[.gz]")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--page", action="store_true", help="print docs/differences.md")
    parser.add_argument(
        "--verbose", action="store_true", help="list the differences nothing asks for"
    )
    return parser.parse_args(argv)


def _read(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _is_below(tallies: Mapping[str, Tally], name: str, least: float) -> bool:
    """Tell whether a row misses its target; budgets climb another ladder and have none."""
    row = tallies.get(name)
    return row is not None and row.agreed < least * row.counted


def _report(
    tallies: Mapping[str, Tally], skipped: Counter[str], missed: Sequence[str], *, verbose: bool
) -> str:
    sections = [_agreement_table(tallies), _cause_table(tallies)]
    if skipped:
        sections.append(draw(["skipped, no such option", "vectors"], skipped.most_common()))
    if verbose:
        sections.append("\n\n".join(_details(tallies)) or "every difference is asked for")
    targets = ", ".join(f"{name} {least:.0%}" for name, least in TARGETS.items())
    verdict = f"missed by {', '.join(missed)}" if missed else "met"
    sections.append(f"targets (decisions, not counting what is asked for): {targets}: {verdict}")
    rows = [tally for group, tally in tallies.items() if group.startswith("compress")]
    counted = sum(row.counted for row in rows)
    if len(rows) > 1:
        agreed = share(sum(row.agreed for row in rows), counted)
        sections.append(f"compress with and without a budget together: {agreed} (no target)")
    return "\n\n".join(sections)


_PAGE: Final = """\
# Where refold decides differently

With `profile="classic"`, refold keeps the rules of context-compression-engine 1.5.0, except where
they lose data, waste tokens or misread English. This page lists every class of difference in a set
of recorded calls that is not part of this repository. It is printed by

```
python bench/vectors.py VECTORS.jsonl.gz --page     # --verbose lists each difference
```

Decisions and reasons are compared message by message, the words of summaries are not. {skipped}
calls with options that refold does not have are skipped.

## Agreement

Of {compared} decisions, {agreed} agree; without differences that a promise or a test in
`tests/known_failures` requires, {counted}.

## Differences

*Decisions* are messages that are treated differently, *reasons* those treated alike for another
reason. A *known failure* is a defect that `tests/known_failures` guards against, a *contract* a
promise of refold; the rest count against the agreement.

{causes}

Unexplained: {unexplained}.

## Stand-ins of the other engine

Its stand-ins name their originals in `metadata`, which cannot be verified. `uncompress(messages,
verbatim, accept_foreign=True)` trusts them, with a mapping or a function. When folded again, they
are ordinary text.
"""


def _page(tallies: Mapping[str, Tally], skipped: Counter[str]) -> str:
    """Return the page on differences: what agrees, what does not, and why."""
    decisions = Counter(cause for tally in tallies.values() for cause in tally.decision_causes)
    reasons = Counter(cause for tally in tallies.values() for cause in tally.reason_causes)
    agreed = sum(tally.agreed for tally in tallies.values())
    causes = ["| class | decisions | reasons | what refold does |", "|---|--:|--:|---|"]
    for cause, _ in count_by_cause([*decisions.elements(), *reasons.elements()]):
        numbers = f"{decisions[cause]} | {reasons[cause]}"
        causes.append(f"| {cause.name} | {numbers} | {cause.description} |")
    return _PAGE.format(
        skipped=skipped.total(),
        compared=sum(tally.number for tally in tallies.values()),
        agreed=share(agreed, sum(tally.number for tally in tallies.values())),
        counted=share(agreed, sum(tally.counted for tally in tallies.values())),
        causes="\n".join(causes),
        unexplained=decisions[UNEXPLAINED] + reasons[UNEXPLAINED],
    )


def _agreement_table(tallies: Mapping[str, Tally]) -> str:
    rows = [
        [
            name,
            tally.number,
            share(tally.agreed, tally.number),
            share(tally.agreed, tally.counted),
            share(tally.reasons_agreed, tally.with_reason),
            sum(cause == UNEXPLAINED for cause in tally.decision_causes + tally.reason_causes),
        ]
        for name, tally in sorted(tallies.items())
    ]
    header = ["function", "compared", "decision", "not counting asked for", "reason", "unexplained"]
    return draw(header, rows)


def _cause_table(tallies: Mapping[str, Tally]) -> str:
    decisions = Counter(cause for tally in tallies.values() for cause in tally.decision_causes)
    reasons = Counter(cause for tally in tallies.values() for cause in tally.reason_causes)
    both = count_by_cause([*decisions.elements(), *reasons.elements()])
    rows = [
        [
            cause.name,
            decisions[cause],
            reasons[cause],
            _functions(tallies, cause),
            cause.description,
        ]
        for cause, _ in both
    ]
    return draw(["class of difference", "decisions", "reasons only", "seen in", "what"], rows)


def _functions(tallies: Mapping[str, Tally], cause: Cause) -> str:
    return ", ".join(
        name
        for name, tally in sorted(tallies.items())
        if cause in tally.decision_causes or cause in tally.reason_causes
    )


def _details(tallies: Mapping[str, Tally]) -> Iterator[str]:
    for name, tally in sorted(tallies.items()):
        for line, check in tally.unexplained:
            yield (
                f"{name}, line {line}, message {check.index}: {explain(check).name}\n"
                f"  theirs: {_short(check.theirs.decision)} ({_short(check.theirs.reason)})\n"
                f"  ours:   {_short(check.ours.decision)} ({_short(check.ours.reason)})\n"
                f"  text:   {_short(check.text)}"
            )


def _short(text: str | None, limit: int = 200) -> str:
    spelled = repr(text) if text is not None else "not recorded"
    return spelled if len(spelled) <= limit else spelled[:limit] + "…"


def _as_json(
    tallies: Mapping[str, Tally], skipped: Counter[str], missed: Sequence[str]
) -> dict[str, Any]:
    return {
        "functions": {
            name: {
                "compared": tally.number,
                "decisions_agreed": tally.agreed,
                "decisions_counted": tally.counted,
                "reasons_compared": tally.with_reason,
                "reasons_agreed": tally.reasons_agreed,
            }
            for name, tally in sorted(tallies.items())
        },
        "differences": [
            {
                "class": cause.name,
                "kind": cause.kind,
                "description": cause.description,
                "count": count,
            }
            for cause, count in count_by_cause(
                [
                    cause
                    for tally in tallies.values()
                    for cause in (*tally.decision_causes, *tally.reason_causes)
                ]
            )
        ],
        "skipped": dict(skipped),
        "missed": list(missed),
    }


if __name__ == "__main__":
    sys.exit(main())
