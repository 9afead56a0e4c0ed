"""What becomes of an answer: accepted, asked for again, repaired, or refused by a gate."""

from __future__ import annotations

import pytest

from refold import ModelReport, RefusedAnswer
from refold.llm.summarizers import Summary, SummaryRequest, Usage
from tests.llm.notes import (
    FILLER,
    content,
    fold,
    gates_of,
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
    "no_refusal": (note(7), "I'm sorry, but I can't help with that."),
    "nothing_invented": (note(7), f"{short(7)} It costs 777 euros."),
    "facts_present": (note(7), LOST),
    "same_language": (
        note(7),
        "Die Pumpe in der Halle 7 ist seit dem Mittag aus und der Zeiger steht auf 507 mm, "
        "das ist die Lage.",
    ),
    "negations_kept": (FORBIDDEN, "Open the valve of pump 7 by hand; the gauge reads 507 mm."),
}


class TestAccepted:
    def test_the_first_answer(self) -> None:
        model = Scripted(short(7))
        result = fold(talk(note(7)), summarizer=model)
        assert content(result).startswith(f"[summary: {short(7)}")
        assert report_of(result) == ModelReport(
            asked=1, accepted=1, calls=1, input_tokens=120, output_tokens=9, cost_usd=0.25
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


class TestAskedOnceMore:
    def test_naming_the_missing_facts(self) -> None:
        model = Scripted(LOST, short(7))
        result = fold(talk(note(7)), summarizer=model)
        assert content(result).startswith(f"[summary: {short(7)}")
        first, second = model.requests
        assert first.text == second.text == note(7)
        assert first.must_keep == ()
        assert second.must_keep == ("7", "507 mm")
        report = report_of(result)
        assert (report.asked, report.accepted, report.repaired) == (1, 1, 0)
        [refused] = report.refused
        assert (refused.gate, refused.missing) == ("facts_present", ("7", "507 mm"))
        assert "507 mm" in refused.why
        assert report.calls == 2
        assert report.cost_usd == 2 * PAID.cost_usd

    def test_a_function_reads_them_in_its_text(self) -> None:
        asked: list[str] = []

        def model(text: str) -> str:
            asked.append(text)
            return LOST if len(asked) == 1 else short(7)

        fold(talk(note(7)), summarizer=model)
        assert asked[0] == note(7)
        assert asked[1].startswith(note(7))
        assert asked[1].endswith("7; 507 mm")

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


class TestRepaired:
    def test_by_appending_what_is_missing(self) -> None:
        result = fold(talk(note(7)), summarizer=Scripted(LOST))
        assert f"{LOST}\n[kept: 7; 507 mm]" in content(result)
        report = report_of(result)
        assert (report.asked, report.accepted, report.repaired) == (1, 0, 1)
        assert [refused.gate for refused in report.refused] == ["facts_present"] * 2

    def test_the_first_answer_if_the_second_is_worse(self) -> None:
        result = fold(
            talk(note(7)), summarizer=Scripted(LOST, "I'm sorry, I can't help with that.")
        )
        assert f"{LOST}\n[kept: 7; 507 mm]" in content(result)
        assert report_of(result).repaired == 1

    def test_or_if_there_is_no_second(self) -> None:
        result = fold(talk(note(7)), summarizer=Scripted(LOST, ValueError("no network")))
        assert f"{LOST}\n[kept: 7; 507 mm]" in content(result)
        report = report_of(result)
        assert (report.asked, report.repaired) == (1, 1)
        assert report.failures == ("ValueError: no network",)

    def test_a_lost_no_comes_back_word_for_word(self) -> None:
        result = fold(
            talk(FORBIDDEN), summarizer=Scripted("The valve of pump 7; the gauge reads 507 mm.")
        )
        assert "Never open the valve of pump 7 by hand." in content(result)
        assert report_of(result).repaired == 1

    def test_a_no_of_which_nothing_is_said_comes_back_too(self) -> None:
        text = f"{note(7)} Do not bring the dog."
        result = fold(talk(text), summarizer=Scripted(short(7)))
        assert "not bring the dog" in content(result)

    def test_not_if_it_is_no_longer_shorter(self) -> None:
        dense = " ".join(f"Pump {n} reads {n + 500} mm." for n in range(20))
        result = fold(talk(dense), summarizer=Scripted(FILLER * 2))
        assert report_of(result).repaired == 0
        assert result.messages == plainly(talk(dense))

    def test_not_if_something_was_invented(self) -> None:
        result = fold(talk(note(7)), summarizer=Scripted("The pump costs 777 euros."))
        assert report_of(result).repaired == 0
        assert {"nothing_invented", "facts_present"} <= gates_of(result)
        assert result.messages == plainly(talk(note(7)))


@pytest.mark.parametrize("gate", BAD_ANSWERS)
class TestRefused:
    def test_by_the_gate_and_the_report_says_so(self, gate: str) -> None:
        text, answer = BAD_ANSWERS[gate]
        model = Scripted(answer)
        result = fold(talk(text), summarizer=model)
        assert gate in gates_of(result)
        assert len(model.requests) == 2
        report = report_of(result)
        assert (report.asked, report.accepted, report.failures) == (1, 0, ())
        assert all(isinstance(refused, RefusedAnswer) and refused.why for refused in report.refused)
        assert all(refused.text and refused.text in text for refused in report.refused)
        if not report.repaired:
            assert result.messages == plainly(talk(text))

    def test_once_then_a_better_answer_is_used(self, gate: str) -> None:
        text, answer = BAD_ANSWERS[gate]
        good = {
            FORBIDDEN: "Never open the valve of pump 7 by hand; the gauge reads 507 mm.",
        }.get(text, short(7))
        result = fold(talk(text), summarizer=Scripted(answer, good))
        assert gate in gates_of(result)
        assert report_of(result).accepted + report_of(result).repaired == 1, report_of(result)


class TestTooLongOnceTagged:
    """An answer may be shorter than its text, and its tag longer than that.

    Characters are counted: with tokens, one character less may be no token less.
    """

    def test_then_the_deterministic_summary_is_used(self) -> None:
        model = Scripted(note(7)[:-1])
        result = fold(talk(note(7)), summarizer=model, counter=len)
        assert (report_of(result).accepted, report_of(result).unused) == (0, 1)
        assert result.messages == plainly(talk(note(7)), counter=len)
        assert content(result).startswith("[summary: ")

    def test_a_repair_that_is_not_used_is_not_counted(self) -> None:
        text = f"Never open the valve of pump 7. {note(7)}"
        almost = note(7).replace(" and for those who stayed", "")
        result = fold(talk(text), summarizer=Scripted(almost), counter=len)
        assert "negations_kept" in gates_of(result)
        assert (report_of(result).repaired, report_of(result).unused) == (0, 1)
        assert result.messages == plainly(talk(text), counter=len)

    def test_then_the_token_classifier_is_asked_before_that(self) -> None:
        from refold import TokenVerdict

        def keep_numbers(text: str) -> list[TokenVerdict]:
            return [TokenVerdict(w, any(map(str.isdigit, w))) for w in text.split()]

        model = Scripted(note(7)[:-1])
        result = fold(
            talk(note(7)), summarizer=model, ml_token_classifier=keep_numbers, counter=len
        )
        assert content(result).startswith("[summary: 7 507")

    def test_around_code_too(self) -> None:
        text = f"{note(7)}\n```python\nprint(1)\n```"
        result = fold(talk(text), summarizer=Scripted(note(7)[:-1]), counter=len)
        assert (report_of(result).accepted, report_of(result).unused) == (0, 1)
        assert result.messages == plainly(talk(text), counter=len)
        assert content(result).startswith("[summary: ")


class TestUsage:
    def test_all_answers_are_charged_the_refused_ones_too(self) -> None:
        def charged(text: str, cost: float) -> Summary:
            return Summary(
                text=text, usage=Usage(calls=1, input_tokens=10, output_tokens=2, cost_usd=cost)
            )

        model = Scripted(charged(LOST, 0.25), charged(short(7), 0.5))
        report = report_of(fold(talk(note(7)), summarizer=model))
        assert (report.calls, report.input_tokens, report.output_tokens) == (2, 20, 4)
        assert report.cost_usd == 0.75

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
        assert len(report.refused) == 6
        assert report.calls == 9
