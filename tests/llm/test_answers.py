"""What becomes of an answer: accepted, asked for again, repaired, or refused by a check."""

from __future__ import annotations

import pytest

from refold import ModelReport, RefusedAnswer
from refold.llm.summarizers import Summary, SummaryRequest, Usage
from tests.llm.notes import (
    FILLER,
    checks_of,
    content,
    fold,
    note,
    notes,
    plainly,
    report_of,
    short,
    talk,
)
from tests.llm.summarizers.contract import PAID, Scripted

LOST = "The pump was switched off at noon and all of us were glad."
FORBIDDEN = f"Never open the valve of pump 7 by hand. {FILLER}The gauge reads 507 mm."

BAD_ANSWERS = {
    "not_empty": (note(7), " \n\t… "),
    "shorter": (note(7), note(7) + " " + FILLER),
    "no_talk": (note(7), "I'm sorry, but I can't help with that."),
    "nothing_invented": (note(7), f"{short(7)} It costs 777 euros."),
    "same_language": (
        note(7),
        "Die Pumpe in der Halle 7 ist seit dem Mittag aus und der Zeiger steht auf 507 mm, "
        "das ist die Lage.",
    ),
}


class TestAccepted:
    def test_the_first_answer(self) -> None:
        model = Scripted(short(7))
        result = fold(talk(note(7)), summarizer=model)
        assert content(result).startswith(f"[summary: {short(7)}")
        assert report_of(result) == ModelReport(
            asked=1, accepted=1, calls=1, input_tokens=120, output_tokens=9
        )
        [request] = model.requests
        assert request.text == note(7)
        assert request.must_keep == ()

    def test_white_space_around_it_goes(self) -> None:
        result = fold(talk(note(7)), summarizer=Scripted(f"\n\n  {short(7)}\n "))
        assert content(result).startswith(f"[summary: {short(7)}")
        assert "\n" not in content(result)

    def test_of_several_messages_in_a_row_one_answer(self) -> None:
        model = Scripted(f"{short(1)} {short(2)}")
        messages = [{"role": "user", "content": note(n)} for n in (1, 2)]
        result = fold([*messages, {"role": "assistant", "content": "Good."}], summarizer=model)
        assert [request.text for request in model.requests] == [f"{note(1)}\n\n{note(2)}"]
        assert f"{short(1)} {short(2)} (2 messages merged)" in content(result)

    def test_around_code(self) -> None:
        code = "```python\nprint(1)\n```"
        result = fold(talk(f"{note(7)}\n{code}"), summarizer=Scripted(short(7)))
        assert short(7) in content(result)
        assert code in content(result)

    def test_of_what_is_superseded(self) -> None:
        first = f"Please use the red valve for pump 7 in the hall. {FILLER}It is set to 507 mm."
        last = "Actually, use the blue valve for pump 7 in the hall instead of the red valve. "
        model = Scripted("Use the red valve for pump 7; it is set to 507 mm.")
        result = fold(
            talk(first, "Good.", last * 2),
            summarizer=model,
            contradiction_detection=True,
            contradiction_topic_threshold=0.05,
        )
        assert content(result).startswith("[cce:superseded by")
        assert "Use the red valve for pump 7; it is set to 507 mm." in content(result)


DENSE = " ".join(f"Pump {n} reads {n + 5000} mm." for n in range(10, 40))


class TestAskedOnceMore:
    def test_naming_the_missing_facts(self) -> None:
        model = Scripted("Each pump reads mm. " * 18, " ".join(DENSE.split()[:-1]))
        result = fold(talk(DENSE), summarizer=model)
        first, second = model.requests
        assert first.text == second.text == DENSE
        assert first.must_keep == ()
        assert second.must_keep[:2] == ("10", "5010 mm")
        [refused] = report_of(result).refused[:1]
        assert refused == RefusedAnswer(check="nothing_lost", why="60 numbers missing")

    def test_with_nothing_to_name_it_is_asked_for_less(self) -> None:
        model = Scripted(note(7) * 2, short(7))
        result = fold(talk(note(7)), summarizer=model)
        first, second = model.requests
        assert second.max_tokens < first.max_tokens
        assert report_of(result).accepted == 1

    def test_never_a_third_time(self) -> None:
        model = Scripted("", "", short(7))
        result = fold(talk(note(7)), summarizer=model)
        assert len(model.requests) == 2
        assert report_of(result).accepted == 0
        assert result.messages == plainly(talk(note(7)))

    @pytest.mark.parametrize("name", BAD_ANSWERS)
    def test_a_bad_answer_is_refused_by_name(self, name: str) -> None:
        text, answer = BAD_ANSWERS[name]
        result = fold(talk(text), summarizer=Scripted(answer))
        assert name in checks_of(result)
        assert result.messages == plainly(talk(text))

    @pytest.mark.parametrize("name", BAD_ANSWERS)
    def test_once_then_a_better_answer_is_used(self, name: str) -> None:
        text, answer = BAD_ANSWERS[name]
        report = report_of(fold(talk(text), summarizer=Scripted(answer, short(7))))
        assert report.accepted == 1


class TestCompleted:
    def test_by_appending_what_is_missing(self) -> None:
        model = Scripted(LOST)
        result = fold(talk(note(7)), summarizer=model)
        assert f"{LOST}\n[kept: 507 mm]" in content(result)
        report = report_of(result)
        assert (report.asked, report.accepted, report.repaired) == (1, 0, 1)
        assert len(model.requests) == 1
        assert report.refused == ()

    def test_a_lost_no_comes_back_word_for_word(self) -> None:
        answer = "Open the valve of pump 7 by hand; the gauge reads 507 mm."
        result = fold(talk(FORBIDDEN), summarizer=Scripted(answer))
        assert "Never open the valve of pump 7 by hand." in content(result)
        assert report_of(result).repaired == 1


class TestTooLongOnceTagged:
    """An answer may be shorter than its text, and its tag longer than that.

    Characters are counted: with tokens, one character less may be no token less.
    """

    def test_then_the_deterministic_summary_is_used(self) -> None:
        model = Scripted(note(7)[:-1])
        result = fold(talk(note(7)), summarizer=model, counter=len)
        assert report_of(result).accepted == 1
        assert result.messages == plainly(talk(note(7)), counter=len)
        assert content(result).startswith("[summary: ")

    def test_around_code_too(self) -> None:
        text = f"{note(7)}\n```python\nprint(1)\n```"
        result = fold(talk(text), summarizer=Scripted(note(7)[:-1]), counter=len)
        assert report_of(result).accepted == 1
        assert result.messages == plainly(talk(text), counter=len)
        assert content(result).startswith("[summary: ")


class TestUsage:
    def test_all_answers_are_counted_the_refused_ones_too(self) -> None:
        report = report_of(fold(talk(note(7)), summarizer=Scripted("", short(7))))
        assert report.calls == 2

    def test_the_usage_of_an_error_counts(self) -> None:
        class CostlyError(Exception):
            usage = Usage(calls=1, output_tokens=99)

        report = report_of(fold(talk(note(7)), summarizer=Scripted(CostlyError("cut off"))))
        assert (report.calls, report.output_tokens) == (1, 99)
        assert report.failures == ("CostlyError: cut off",)

    def test_over_several_texts_it_adds_up(self) -> None:
        class Model:
            async def summarize(self, request: SummaryRequest) -> Summary:
                n = int(request.text.split("hall ")[1].split()[0])
                return Summary(text=short(n) if n % 2 else LOST, usage=PAID)

        report = report_of(fold(notes(6), summarizer=Model()))
        assert (report.asked, report.accepted, report.repaired) == (6, 3, 3)
        assert report.calls == 6
