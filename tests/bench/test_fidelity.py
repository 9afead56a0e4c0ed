"""The fidelity bench: its figures, its checks on results, what it prints; with a kit of our own."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bench import scripts

from fidelity_folds import (
    NAME,
    Folded,
    Once,
    find_faults,
    provider_error,
    public_way,
    weighted_way,
    weights_without,
)
from fidelity_kit import Kit
from fidelity_stats import (
    PANELS,
    Interval,
    Panel,
    Row,
    bootstrap,
    mean,
    paired_differences,
    quantile,
)
from refold import compress
from refold.fold.rate import BUCKETS, WORDS, learned_weights
from refold.scan.tokens.estimate import estimate_tokens

REUSE = PANELS[0]
TALK: list[dict[str, Any]] = [
    {
        "role": ("user", "assistant")[n % 2],
        "content": f"Bed {n}: the gardener moved pot P{n * 37 + 100} behind wall {n}. " * 8,
    }
    for n in range(10)
]


def line(method: str, link: float, **more: Any) -> dict[str, Any]:
    base = {"suite": "reuse", "fam": "swe", "src": "own", "id": "a", "cut": 4, "budget": 0.2}
    figures = {"ratio": 0.2, "base": 500, "over": False, "surv": link, "struct": 0, "ms": 3.0}
    return {**base, **figures, "invented": 0.0, "method": method, "link": link, **more}


def row(method: str, link: float | None, **more: Any) -> Row:
    return Row.read({**line(method, 0.0, **more), "link": link})


differences = st.lists(
    st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=3), max_size=6), max_size=4
)


@settings(max_examples=40)
@given(differences)
def test_an_interval_holds_what_was_seen(families: list[list[list[float]]]) -> None:
    found = bootstrap(families, resamples=60)
    seen = [value for family in families for own in family for value in own]
    if not seen:
        assert found is None
        return
    assert found is not None
    assert min(seen) - 1e-9 <= found.low <= found.high <= max(seen) + 1e-9
    assert min(seen) - 1e-9 <= found.estimate <= max(seen) + 1e-9
    assert found == bootstrap(families, resamples=60)


def test_families_count_the_same_however_many_rows_they_have() -> None:
    found = bootstrap([[[1.0]] * 9, [[0.0]]])
    assert found == Interval(0.5, 0.5, 0.5)


def test_cuts_of_one_trajectory_are_drawn_together() -> None:
    together = bootstrap([[[1.0] * 50, [0.0] * 50]])
    apart = bootstrap([[[1.0]] * 50 + [[0.0]] * 50])
    assert together == Interval(0.5, 0.0, 1.0)
    assert apart is not None
    assert 0.3 < apart.low < 0.5 < apart.high < 0.7


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.1, 0.2, "above"), (-0.2, -0.1, "below"), (-0.1, 0.1, "open")]
)
def test_a_difference_counts_when_its_interval_leaves_zero_out(
    low: float, high: float, verdict: str
) -> None:
    assert Interval((low + high) / 2, low, high).verdict == verdict


def test_only_what_both_have_is_compared() -> None:
    ours = [row("refold", 0.9), row("refold", 0.8, id="b"), row("refold", None, id="c")]
    theirs = [row("keep_last", 0.5), row("keep_last", 0.5, id="c"), row("keep_last", 0.5, id="d")]
    families = paired_differences(REUSE, ours, theirs)
    assert [[[round(one, 3) for one in own] for own in family] for family in families] == [
        *([], [[0.4]], [], [])
    ]


def test_the_average_is_over_families_and_skips_what_is_missing() -> None:
    rows = [row("refold", 1.0), row("refold", 1.0, id="b"), row("refold", 0.0, fam="aider")]
    assert REUSE.average(rows, "link") == 0.5
    assert REUSE.average(rows, "calls") is None
    assert Panel("other", "qa", "link", ("",)).average(rows, "link") is None


def test_means_and_quantiles() -> None:
    assert mean([None, 1.0, 3.0]) == 2.0
    assert mean([None]) is None
    assert quantile([5.0, 1.0, 3.0], 0.5) == 3.0
    assert quantile([5.0, 1.0, 3.0], 0.95) == 5.0
    assert quantile([5.0, 1.0, 3.0], 0.0) == 1.0


# results of ours are checked


def test_a_good_result_has_no_faults() -> None:
    folded = public_way("standard", estimate_tokens)(json.loads(json.dumps(TALK)), 300)
    assert folded.faults == ()
    assert folded.is_changed
    assert folded.budget == 300


def test_faults_are_found() -> None:
    result = compress(TALK, profile="standard", token_budget=300, conversation=NAME)
    assert list(find_faults(TALK, TALK, result)) == []
    assert list(find_faults(TALK, TALK[1:], result)) == ["changed the caller's messages"]
    assert list(find_faults(TALK[1:], TALK[1:], result)) == ["does not come back as it was"]


def test_the_providers_types_are_asked_to_the_last_item() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert provider_error([said]) is None
    assert provider_error([{**said, "tool_calls": [{**call, "function": {"name": 1}}]}])
    assert provider_error([{"role": "tool", "content": "no id"}])


def test_the_same_is_folded_once() -> None:
    made: list[int | None] = []

    def way(messages: list[dict[str, Any]], budget: int | None) -> Folded:
        made.append(budget)
        return Folded(messages, 0.25, budget, is_changed=False)

    once = Once(way)
    assert [once(TALK, 9), once(TALK, 9), once(TALK[1:], 9), once(TALK, None)]
    assert made == [9, 9, None]
    assert len(once.calls) == 4
    assert once.last_time == 0.25


class OwnWords:
    """As much of a kit as it takes to tell what was invented."""

    @staticmethod
    def full_text(message: dict[str, Any]) -> str:
        return str(message["content"])

    @staticmethod
    def comp_text(messages: list[dict[str, Any]]) -> str:
        return "\n".join(str(message["content"]) for message in messages)

    @staticmethod
    def values_in(text: str) -> set[str]:
        return set(re.findall(r"\w*\d\w*", text))


@pytest.mark.parametrize(
    ("shown", "counted", "claimed"),
    [
        ("pot 41", 0.0, 0.0),
        ("[12% shown #a1b2c3]\npot 41", 2 / 3, 0.0),
        ("[cce:dup of m1a — 1200 chars | #a1b2c3]", 1.0, 0.0),
        ("pot 42", 1.0, 1.0),
        ("[12% shown #a1b2c3]\npot 42", 1.0, 1.0),
        ("issue #42 of pot 41", 0.5, 0.5),
    ],
)
def test_ids_in_our_tags_claim_nothing_but_all_else_does(
    shown: str, counted: float, claimed: float
) -> None:
    kit = Kit(OwnWords, Path())
    before, after = ([{"role": "user", "content": text}] for text in ("pot 41", shown))
    assert kit.invented_share(before, after, with_tags=True) == counted
    assert kit.invented_share(before, after, with_tags=False) == claimed


# weights


def test_the_shipped_weights_give_what_the_public_interface_gives() -> None:
    with_tools = [
        *TALK,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "row_17 ok\nrow_18 failed\n" * 60},
    ]
    for budget in (200, 500):
        shipped = weighted_way(learned_weights(), len)(with_tools, 4 * budget)
        public = public_way("standard", len)(with_tools, 4 * budget)
        assert shipped.messages == public.messages


def test_points_of_a_source_are_read_and_refused_if_of_other_traits(tmp_path: Path) -> None:
    weights = {
        class_: {"bias": [1.0], **{trait: [0.5] * grades for trait, grades in traits.items()}}
        for class_, traits in BUCKETS.items()
    }
    (tmp_path / "own_runs.json").write_text(json.dumps({"weights": weights}))
    assert weights_without("own/runs", tmp_path)[WORDS]["place"][0] == 0.5
    weights[WORDS]["place"] = [1.0]
    (tmp_path / "own_old.json").write_text(json.dumps({"weights": weights}))
    with pytest.raises(ValueError, match=r"other traits \(place\)"):
        weights_without("own/old", tmp_path)


# the script


run = partial(scripts.run, "fidelity.py")


def show(path: Path, *lines: dict[str, Any]) -> scripts.Done:
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return run("--show", str(path))


def test_rows_are_shown_as_tables_and_intervals(tmp_path: Path) -> None:
    done = show(
        tmp_path / "rows.jsonl",
        *(line("refold", 0.8, id=name) for name in "ab"),
        *(line("hybrid20", 0.5, id=name) for name in "ab"),
        line("refold lossless", 1.0, budget=None, ratio=0.8, changed=True),
    )
    assert done.returncode == 0, done.stderr
    assert "+0.300 [+0.300, +0.300]" in done.stdout
    assert "best of the kit" in done.stdout
    assert "20.0%" in done.stdout


def test_a_lossless_profile_that_does_nothing_is_said_loudly(tmp_path: Path) -> None:
    bare = line("refold lossless", 1.0, budget=None, changed=False)
    done = show(tmp_path / "rows.jsonl", line("refold", 0.8), bare)
    assert done.returncode == 0, done.stderr
    assert "SKIPPED: profile lossless" in done.stdout


@pytest.mark.parametrize("wrong", [{"over": True}, {"struct": 1}, {"faults": ["lost it"]}])
def test_an_invalid_result_of_ours_fails_the_run(tmp_path: Path, wrong: dict[str, Any]) -> None:
    rows = tmp_path / "rows.jsonl"
    assert show(rows, line("refold", 0.8), line("keep_last", 0.8, **wrong)).returncode == 0
    assert show(rows, line("refold", 0.8, **wrong), line("keep_last", 0.8)).returncode == 1


def test_weights_are_compared_by_source(tmp_path: Path) -> None:
    links = {"refold": 0.9, "refold unseen": 0.8}
    done = show(tmp_path / "rows.jsonl", *(line(name, link) for name, link in links.items()))
    assert done.returncode == 0, done.stderr
    assert "never saw the source" in done.stdout


def test_without_the_kit_nothing_is_measured_and_that_is_said(tmp_path: Path) -> None:
    done = run("--shared", str(tmp_path))
    assert done.returncode == 0
    assert "SKIPPED" in done.stderr


@pytest.mark.parametrize("wrong", [("--suites", "none"), ("--budgets", "2"), ("--budgets", "x")])
def test_wrong_arguments_are_named(wrong: tuple[str, str]) -> None:
    done = run(*wrong)
    assert done.returncode == 2
    assert repr(wrong[1]) in done.stderr


def test_help_shows_examples() -> None:
    assert "python bench/fidelity.py --left-out" in run("--help").stdout.replace("\n", " ")


OWN_KIT = '''
"""A kit of one suite: do the words of a tool's output survive?"""
import json, os, re

def ntok(text): return len(text.split())
def full_text(message): return message.get("content") or ""
def total_tokens(messages): return sum(ntok(full_text(m)) + 4 for m in messages)
def comp_text(messages): return "\\n".join(map(full_text, messages))
def values_in(text): return set(re.findall(r"[a-z]+_\\d+", text))

def load(root, kinds, cap):
    with open(os.path.join(root, "own.json")) as file:
        return json.load(file)[:cap]

def half(messages, budget): return [{**m, "content": full_text(m)[:budget]} for m in messages]
def broken(messages, budget): raise RuntimeError("no idea")
METHODS = {"identity": lambda m, b: m, "half": half, "broken": broken}

def run_toolout(records, fold, shares):
    rows = []
    for r in records:
        ms = [{"role": "user", "content": r["text"]}]; base = total_tokens(ms)
        for share in shares:
            out = fold(json.loads(json.dumps(ms)), int(share * base))
            link = sum(w in comp_text(out) for w in r["gold"]) / len(r["gold"])
            rows.append(dict(suite="toolout", fam="test", src=r["source"], id=r["id"], budget=share,
                ratio=total_tokens(out) / base, base=base, over=False, surv=link, link=link,
                struct=0, ms=1e3 * fold.last_time))
    return rows
'''


def make_shared(folder: Path) -> Path:
    text = "\n".join(f"step_{n} passed without a word" for n in range(200)) + "\nError: step_77"
    records = [
        {"source": "own", "lang": "en", "id": name, "text": f"{name}\n{text}", "gold": ["Error:"]}
        for name in ("first", "second")
    ]
    (folder / "evalkit").mkdir()
    (folder / "evalkit" / "evalkit.py").write_text(OWN_KIT)
    (folder / "data").mkdir()
    (folder / "data" / "own.json").write_text(json.dumps(records))
    return folder


@pytest.mark.campaign
def test_a_run_measures_ours_and_the_methods_of_the_kit(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    shared = ("--shared", str(make_shared(tmp_path)), "--suites", "toolout", "--out", str(out))
    done = scripts.start("fidelity.py", *shared, "--methods", "all", "--budgets", "0.5,0.1")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(one) for one in out.read_text().splitlines()]
    ours = [one for one in lines if one["method"] == "refold"]
    assert [one["link"] for one in ours] == [1.0] * 4
    assert all(one["faults"] == [] and one["claimed"] == 0.0 for one in ours)
    assert sum(one["method"] == "half" for one in lines) == 4
    assert "FAULTS: broken, 2 rows" in done.stdout
    assert "results not valid, or not restored: 0 of 4" in done.stdout
    assert "nobody" in run(*shared, "--methods", "nobody").stderr


def test_weights_of_other_sources_are_asked_for_before_anything_is_measured(tmp_path: Path) -> None:
    shared = ("--shared", str(make_shared(tmp_path)), "--suites", "reuse", "--methods", "half")
    done = run(*shared, "--left-out", str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "learn_weights.py --folds" in done.stderr
