"""A classifier may have texts kept: which it is asked about, and what its word is worth."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import Any

import pytest

from refold import ConfigError, MemoryStore, create_classifier, create_escalating_classifier
from refold.llm.classifiers import Classifier, Verdict
from tests.classic import Compressor, Session, acompress
from tests.conversations import Conversation
from tests.llm.notes import FILLER, Clerk, checked, fold, note, notes, plainly, report_of, talk
from tests.llm.summarizers.contract import run

TRACE = f"{FILLER}\nTraceback (most recent call last):\n  File 'a.py', line 3\nValueError: no\n"
CODE = f"{FILLER}{FILLER}\n```python\nprint(1)\n```"
JSON = json.dumps([{"id": n, "name": f"row {n}"} for n in range(9)])


class Judge:
    """Keeps the texts that it is told to keep; remembers what it was asked."""

    def __init__(self, *kept: str, reason: str = "decision") -> None:
        self._kept = kept
        self._reason = reason
        self._lock = threading.Lock()
        self.asked: Counter[str] = Counter()

    async def classify(self, text: str) -> Verdict:
        return self(text)

    def __call__(self, text: str) -> Verdict:
        with self._lock:
            self.asked[text] += 1
        decision = "preserve" if text in self._kept else "compress"
        return Verdict(decision, 0.9, self._reason)  # type: ignore[arg-type]


def reasons(messages: Conversation, **choices: Any) -> list[str]:
    return [entry.reason for entry in fold(messages, trace=True, **choices).decisions]


class TestItsWord:
    @pytest.mark.parametrize("kind", ["object", "function", "async function"])
    def test_preserve_keeps_with_its_reason(self, kind: str) -> None:
        judge = Judge(note(2), reason="an agreement")

        async def later(text: str) -> Verdict:
            return judge(text)

        given: Any = {"object": judge, "function": judge.__call__, "async function": later}[kind]
        result = fold(notes(3), classifier=given, trace=True)
        assert result.messages[1]["content"] == note(2)
        assert result.decisions[1].reason == "llm_preserved:an agreement"
        assert result.decisions[1].action == "preserved"
        plain = plainly(notes(3))
        assert [result.messages[n] for n in (0, 2, 3)] == [plain[n] for n in (0, 2, 3)]
        report = report_of(result)
        assert (report.asked, report.accepted, report.failures) == (3, 3, ())
        figures = result.compression
        assert (figures.messages_llm_classified, figures.messages_llm_preserved) == (3, 1)
        silent = fold(notes(3), classifier=lambda text: 1 / 0).compression
        assert (silent.messages_llm_classified, silent.messages_llm_preserved) == (0, 0)

    def test_compress_changes_nothing(self) -> None:
        judge = Judge()
        assert fold(notes(3), classifier=judge).messages == plainly(notes(3))
        assert judge.asked == Counter(map(note, (1, 2, 3)))

    def test_sync_and_async_are_the_same(self) -> None:
        sync = Compressor(classifier=Judge(note(2)), recency_window=1).compress(notes(3))
        later = run(acompress(notes(3), classifier=Judge(note(2)), recency_window=1))
        assert sync == later

    def test_what_is_kept_is_not_summarized(self) -> None:
        clerk = Clerk()
        fold(notes(3), classifier=Judge(note(1), note(3)), summarizer=clerk)
        assert set(clerk.times_asked) == {note(2)}

    def test_a_budget_may_overrule_it_but_the_text_can_be_restored(self) -> None:
        messages = notes(20)
        judge = Judge(*map(note, range(1, 21)))
        result = Compressor(classifier=judge, token_budget=120, trace=True).compress(messages)
        checked(messages, result)
        assert result.fits
        assert set(judge.asked.values()) == {1}
        figures = result.compression
        assert figures.messages_llm_classified == len(judge.asked)
        kept = [e for e in result.decisions if e.reason.startswith("llm_preserved:")]
        assert figures.messages_llm_preserved == len(kept) < len(judge.asked)

    def test_in_a_session(self) -> None:
        judge = Judge(note(2))
        session = Session(classifier=judge, recency_window=1)
        session.extend(notes(3))
        assert session.view()[1]["content"] == note(2)
        assert session.view()[1]["content"] == note(2)
        assert set(judge.asked.values()) == {1}


class TestWhomItIsAskedAbout:
    def test_not_what_is_protected_anyway(self) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        messages: Conversation = [
            {"role": "system", "content": note(1)},
            {"role": "user", "content": "too short to matter"},
            {"role": "assistant", "content": note(2), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": note(3)},
            {"role": "user", "content": note(4)},
            {"role": "assistant", "content": note(5)},
        ]
        judge = Judge()
        found = reasons(messages, classifier=judge, recency_window=2)
        assert set(judge.asked) == {note(3)}
        assert found == [
            "preserved_role",
            "short_content",
            "tool_calls",
            "compressible_prose",
            "recency_window",
            "recency_window",
        ]

    def test_not_copies(self) -> None:
        judge = Judge()
        fold(talk(note(1), note(2), note(1)), classifier=judge)
        assert set(judge.asked) == {note(2)}

    def test_equal_texts_once(self) -> None:
        judge = Judge()
        fold(talk(note(1), note(1), note(1)), classifier=judge, dedup=False)
        assert judge.asked == Counter([note(1)])

    def test_not_what_a_pattern_keeps(self) -> None:
        judge = Judge()
        fold(notes(2), classifier=judge, preserve_patterns=["hall 2"])
        assert set(judge.asked) == {note(1)}

    def test_not_our_own_stand_ins(self) -> None:
        store = MemoryStore()
        once = fold(notes(3), store=store).messages
        judge = Judge()
        fold(once, store=store, classifier=judge)
        assert not judge.asked


class TestModes:
    def test_hybrid_judges_what_the_detectors_let_through(self) -> None:
        judge = Judge()
        found = reasons(talk(TRACE, note(1)), classifier=judge)
        assert set(judge.asked) == {note(1)}
        assert found[0].startswith("hard_t0:")

    def test_full_judges_structure_too(self) -> None:
        judge = Judge()
        result = fold(talk(TRACE * 3, note(1)), classifier=judge, classifier_mode="full")
        assert set(judge.asked) == {TRACE * 3, note(1)}
        assert result.messages[0]["content"] != TRACE * 3

    def test_full_keeps_what_it_says(self) -> None:
        judge = Judge(TRACE * 3, reason="a crash")
        found = reasons(talk(TRACE * 3, note(1)), classifier=judge, classifier_mode="full")
        assert found[0] == "llm_preserved:a crash"

    def test_full_without_a_classifier_is_nothing(self) -> None:
        assert plainly(talk(TRACE), classifier_mode="full") == plainly(talk(TRACE))

    @pytest.mark.parametrize("mode", ["hybrid", "full"])
    def test_json_and_code_stay_in_either(self, mode: str) -> None:
        judge = Judge()
        result = fold(talk(JSON, CODE), classifier=judge, classifier_mode=mode)
        assert result.messages[0]["content"] == JSON
        assert "```python\nprint(1)\n```" in str(result.messages[1]["content"])

    @pytest.mark.parametrize("mode", ["hybrid", "full"])
    def test_an_error_never_ends_a_run(self, mode: str) -> None:
        def judge(text: str) -> Verdict:
            raise ConnectionError("no network")

        result = fold(talk(TRACE, note(1)), classifier=judge, classifier_mode=mode)
        report = report_of(result)
        assert report.accepted == 0
        assert set(report.failures) == {"ConnectionError: no network"}

    def test_in_full_mode_the_detectors_take_over_when_it_fails(self) -> None:
        def judge(text: str) -> Verdict:
            raise ConnectionError("no network")

        messages = talk(TRACE * 3, note(1))
        result = fold(messages, classifier=judge, classifier_mode="full")
        assert result.messages == plainly(messages)


class TestMadeOfAModel:
    def test_create_classifier(self) -> None:
        prompts: list[str] = []

        async def call(prompt: str) -> str:
            prompts.append(prompt)
            kept = "hall 2" in prompt
            return json.dumps(
                {
                    "decision": "preserve" if kept else "compress",
                    "confidence": 0.8,
                    "reason": "pumps",
                }
            )

        found = reasons(notes(3), classifier=create_classifier(call))
        assert found[:3] == ["compressible_prose", "llm_preserved:pumps", "compressible_prose"]
        assert len(prompts) == 3

    @pytest.mark.parametrize("answer", ["", "keep it", "{", '{"decision": "maybe"}', "null"])
    def test_an_answer_that_nobody_understands(self, answer: str) -> None:
        result = fold(notes(2), classifier=create_classifier(lambda prompt: answer))
        assert result.messages == plainly(notes(2))
        assert report_of(result).failures == ()

    def test_create_escalating_classifier(self) -> None:
        def call(prompt: str) -> str:
            raise OSError("no network")

        judge: Classifier = create_escalating_classifier(call)
        messages = talk(TRACE * 3, note(1))
        result = fold(messages, classifier=judge, classifier_mode="full", trace=True)
        assert result.decisions[0].reason == "llm_preserved:heuristic_t0 (OSError)"
        assert result.messages == plainly(messages)
        assert report_of(result).failures == ()

    @pytest.mark.parametrize("value", [3, "openai:gpt-5", {}])
    def test_something_else(self, value: object) -> None:
        with pytest.raises(ConfigError, match="classifier must be"):
            Compressor(classifier=value)

    def test_a_mode_that_is_none(self) -> None:
        with pytest.raises(ConfigError, match="classifier_mode"):
            Compressor(classifier=Judge(), classifier_mode="both")


def test_kf_30_one_failure_does_not_reject_the_whole_run() -> None:
    def judge(text: str) -> Verdict:
        if text == note(2):
            raise ValueError("no")
        return Verdict("preserve", 1.0, "x")

    result = fold(notes(3), classifier=judge)
    assert [result.messages[n]["content"] == note(n + 1) for n in range(3)] == [True, False, True]
    assert report_of(result).failures == ("ValueError: no",)


def test_kf_30_summarizer_failures_are_counted() -> None:
    def model(text: str) -> str:
        raise ValueError("no")

    assert report_of(fold(notes(3), summarizer=model)).failures == ("ValueError: no",) * 3
