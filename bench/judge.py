"""Ask a real model how well it can go on from a folded past.

A recorded run is cut, its past is folded, and a model reads that, then what really happened next.
Its surprise at the agent's own words is put on a scale: 1 as with the whole past, 0 as with none.
Over all words, and over values that only the past has. JUDGE is a script that brings the runs, two
plain methods to compare with, and the table. Contexts are made here, and scored where MODEL can be
run: on a GPU in minutes.

examples:
  python bench/judge.py contexts ../shared/judge/judge.py contexts.jsonl
  python bench/judge.py contexts ../shared/judge/judge.py long.jsonl --past 5000-24000 \
    --shares .3,.2,.1 --cap 30 --cuts 12
  python bench/judge.py score contexts.jsonl SmolLM2-135M-Instruct.Q4_1.gguf scores.json
  python bench/judge.py table ../shared/judge/judge.py scores.json
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from typing import Any, Final

from refold import compress

Messages = list[dict[str, Any]]
Row = dict[str, Any]

_PLACES: Final = tuple(range(15, 90, 10))
"""Where runs are cut, in per cent of their messages; the last that fit are taken."""
_CUTS_A_RUN: Final = 2
_NEXT_MESSAGES, _NEXT_TOKENS = 8, 2_500
"""So much of what really happened next is scored."""
_KINDS: Final = ("trajectory", "chat")
_FAMILIES: Final = ("service", "swe", "coding", "aider")
_ABOUT: Final = ("id", "src", "fam", "cut", "base", "method", "budget", "tok", "struct")
"""What the table needs to know of a context."""


def fold(messages: Messages, budget: int) -> Messages:
    """Fold *messages* as anybody would who names nothing but a budget."""
    return compress(messages, token_budget=budget, model="gpt-4o").messages


def main(argv: Sequence[str] | None = None) -> int:
    """Make contexts, score them, or draw the table."""
    arguments = _parse(argv)
    return int(arguments.run(arguments))


def make_contexts(arguments: argparse.Namespace) -> int:
    """Write what the model is to read of every cut: whole, none, and folded in every way."""
    kit = _load(arguments.judge.parent.parent / "evalkit" / "evalkit.py")
    methods = {"refold": fold, "obs_mask": kit.obs_mask, "keep_last": kit.keep_last}
    cuts: Counter[str] = Counter()
    with arguments.out.open("w", encoding="utf-8") as out:
        for record in kit.load(arguments.judge.parent.parent / "data", _KINDS, arguments.cap):
            source, messages = record["source"], record.get("messages")
            if not messages or kit.family(source) not in _FAMILIES:
                continue
            for cut in _find_cuts(kit, messages, arguments.past):
                happened = _what_happened(kit, messages[cut:])
                if cuts[source] >= arguments.cuts or not _speaks(happened):
                    continue
                cuts[source] += 1
                past = messages[:cut]
                system = [message for message in past if message["role"] == "system"]
                about = {
                    "id": record["id"],
                    "src": source,
                    "fam": kit.family(source),
                    "cut": cut,
                    "base": kit.total_tokens(kit.nonsys(past)),
                    "vals": [needle["v"] for needle in kit.needles_at(messages, cut)[0]],
                    "cont": [(m["role"], kit.full_text(m)) for m in happened],
                }
                views = {("full", 1.0): past, ("none", 0.0): [*system, past[-1]]}
                for share in arguments.shares:
                    budget = kit.total_tokens(system) + int(share * about["base"])
                    for name, method in methods.items():
                        views[name, share] = method(json.loads(json.dumps(past)), budget)
                for (name, share), view in views.items():
                    out.write(json.dumps(about | _context(kit, name, share, view)) + "\n")
    print(f"{cuts.total()} cuts:", ", ".join(f"{n} {source}" for source, n in cuts.items()))
    return 0


def _find_cuts(kit: Any, messages: Messages, past: tuple[int, int]) -> list[int]:
    """Return where to cut: before a turn of the agent, as late as the *past* may be long."""
    found: list[int] = []
    least, most = past
    for percent in _PLACES:
        cut = len(messages) * percent // 100
        while cut < len(messages) and messages[cut]["role"] != "assistant":
            cut += 1
        if cut >= len(messages) - 2 or cut in found or messages[cut - 1]["role"] == "assistant":
            continue
        before = messages[:cut]
        if least <= kit.total_tokens(kit.nonsys(before)) and kit.total_tokens(before) <= most:
            found.append(cut)
    return found[-_CUTS_A_RUN:]


def _what_happened(kit: Any, after: Messages) -> Messages:
    taken: Messages = []
    tokens = 0
    for message in after[:_NEXT_MESSAGES]:
        tokens += kit.msg_tokens(message)
        if tokens > _NEXT_TOKENS:
            break
        taken.append(message)
    return taken


def _speaks(messages: Messages) -> bool:
    return any(message["role"] == "assistant" for message in messages)


def _context(kit: Any, name: str, share: float, view: Messages) -> Row:
    return {
        "method": name,
        "budget": share,
        "tok": kit.total_tokens(kit.nonsys(view)),
        "struct": kit.structure_errors(view),
        "ctx": [(message["role"], kit.full_text(message)) for message in view],
    }


def score_contexts(arguments: argparse.Namespace) -> int:
    """Let the model read every context; write its surprise at what happened next."""
    from judge_model import Decoder, Scored, read_vocabulary

    groups: defaultdict[tuple[str, int], list[Row]] = defaultdict(list)
    with arguments.contexts.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            groups[row["id"], row["cut"]].append(row)
    vocabulary = read_vocabulary(arguments.model)
    decoder = Decoder(arguments.model)
    scores: list[Row] = []
    for number, group in zip(count(1), groups.values(), strict=False):
        after, said, used = _read_after(vocabulary, group[0])
        sequences = [
            Scored([vocabulary.end, *_read_chat(vocabulary, row["ctx"]), *after], len(after))
            for row in group
        ]
        if max(len(sequence.ids) for sequence in sequences) > vocabulary.window:
            continue
        for row, found in zip(group, decoder.score(sequences), strict=True):
            sums = {
                "nll": float(-(found * said).sum()),
                "tokens": sum(said),
                "needle_nll": float(-(found * used).sum()),
                "needle_tokens": sum(used),
            }
            scores.append({key: row[key] for key in _ABOUT} | sums)
        print(f"\r{number} of {len(groups)} cuts", end="", flush=True, file=sys.stderr)
    arguments.out.write_text(json.dumps(scores), encoding="utf-8")
    print(f"\n{len(scores)} contexts scored", file=sys.stderr)
    return 0


def _read_chat(vocabulary: Any, messages: Sequence[tuple[str, str]]) -> Iterator[int]:
    line = vocabulary.tokenizer.encode("\n").ids
    for role, text in messages:
        told = vocabulary.tokenizer.encode(f"{role}\n{text}").ids
        yield from (vocabulary.start, *told, vocabulary.end, *line)


def _read_after(vocabulary: Any, row: Row) -> tuple[list[int], list[int], list[int]]:
    """Return what happened next, which tokens the agent said, and which are values of the past."""
    ids: list[int] = []
    said: list[int] = []
    used: list[int] = []
    known: set[str] = set()
    line = vocabulary.tokenizer.encode("\n").ids
    for role, text in row["cont"]:
        told, head = vocabulary.tokenizer.encode(f"{role}\n{text}"), len(role) + 1
        spans: list[tuple[int, int]] = []
        is_agent = role == "assistant"
        for value in row["vals"] if is_agent else ():
            if value not in known and (found := re.search(re.escape(value), text)):
                known.add(value)
                spans.append((found.start() + head, found.end() + head))
        own = [int(is_agent and end > head) for _, end in told.offsets]
        ids += [vocabulary.start, *told.ids, vocabulary.end, *line]
        said += [0, *own, int(is_agent), *[0] * len(line)]
        hits = [
            int(bool(mine) and any(start < stop and end > first for first, stop in spans))
            for mine, (start, end) in zip(own, told.offsets, strict=True)
        ]
        used += [0, *hits, 0, *[0] * len(line)]
    return ids, said, used


def draw_table(arguments: argparse.Namespace) -> int:
    """Print the shares of foresight, with paired intervals."""
    judge = _load(arguments.judge)
    judge.table(argparse.Namespace(scores=[str(arguments.scores)], versus="refold"))
    return 0


def _load(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no script that can be loaded; see --help for what JUDGE is")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _range(text: str) -> tuple[int, int]:
    least, _, most = text.partition("-")
    return int(least), int(most)


def _shares(text: str) -> list[float]:
    return [float(share) for share in text.split(",")]


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(required=True)
    contexts = steps.add_parser("contexts", help="fold recorded runs for the model to read")
    contexts.add_argument("judge", type=Path, help="the script, beside evalkit and data")
    contexts.add_argument("out", type=Path, help="where the contexts go, one a line")
    contexts.add_argument("--past", type=_range, default=(1_500, 5_000), help="tokens (1500-5000)")
    contexts.add_argument("--shares", type=_shares, default=[0.3, 0.15], help="(.3,.15)")
    contexts.add_argument("--cap", type=int, default=20, help="records of each source (20)")
    contexts.add_argument("--cuts", type=int, default=999, help="cuts of each source (all)")
    contexts.set_defaults(run=make_contexts)
    score = steps.add_parser("score", help="let a model read them")
    score.add_argument("contexts", type=Path)
    score.add_argument("model", type=Path, help="a GGUF file of the Llama or Qwen2 family")
    score.add_argument("out", type=Path, help="where the scores go")
    score.set_defaults(run=score_contexts)
    table = steps.add_parser("table", help="print what the scores say")
    table.add_argument("judge", type=Path)
    table.add_argument("scores", type=Path)
    table.set_defaults(run=draw_table)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
