"""Ask models, and let through only what passes the gates.

A rejected answer is asked for once more, naming the facts it lost; then the lost facts are appended
word for word, to the second answer or else to the first, if that is still shorter. An answer that
says nothing false, but lacks something, is used if it keeps more per token than the summary by the
rules does; else that summary is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from refold.checks import check_number
from refold.errors import describe
from refold.events import Event, EventKind, Listener
from refold.llm.classify import Classifier, expect_verdict
from refold.llm.question import Answers, Flow, Judgement, Questions
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest, Usage, usage_of
from refold.llm.summarizers.limited import Limiter
from refold.result import ModelReport, RefusedAnswer
from refold.scan.tokens.counter import ForgivingCounter, TokenCounter
from refold.scan.tokens.estimate import estimate_tokens

if TYPE_CHECKING:  # the gates know many patterns; who never asks a model need not load them
    from refold.llm.gates.base import Refusal, Source

T = TypeVar("T")

_MAX_JUDGING = 4
"""Questions to the classifier at once; it is asked about many short texts. A guess."""
_MAX_ANSWERS = 2
"""The first answer, and one that knows why the first was refused; after that the rules do it."""
_MIN_ANSWER_TOKENS = 40
"""Room for a sentence or two, however short the text is. A guess."""
_ANSWER_SHARE = 0.4
"""About how long an answer should be, compared with its text."""
_MAX_WAITING = 256
"""How many answers without a use wait for the next fold: it asks about few texts at a time."""
_MAX_TOLD = 256
"""How many refusals and failures a session tells of."""


@dataclass(slots=True)
class Tally:
    """What happened to the questions of one compression."""

    asked: int = 0
    accepted: int = 0
    repaired: int = 0
    unused: int = 0
    waiting: dict[str, bool] = field(default_factory=dict)
    """Texts with an answer that passed and is not used so far, and whether it was repaired."""
    refused: list[RefusedAnswer] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    seconds_asked: float = 0.0
    """How long answers were waited for; one compression may ask several times."""

    @classmethod
    def of(cls, report: ModelReport | None) -> Self:
        """Go on counting from *report*."""
        if report is None:
            return cls()
        return cls(
            asked=report.asked,
            accepted=report.accepted,
            repaired=report.repaired,
            unused=report.unused,
            refused=list(report.refused),
            failures=list(report.failures),
            usage=Usage(
                calls=report.calls,
                input_tokens=report.input_tokens,
                output_tokens=report.output_tokens,
                cost_usd=report.cost_usd,
            ),
        )

    def settle(self, used: Collection[str]) -> None:
        """Count the answers for the texts in *used*; the latest of the others may be used later.

        A session counts for as long as it lives: it does not keep them all.
        """
        for text in used:
            is_repaired = self.waiting.pop(text, None)
            if is_repaired is not None:
                self.repaired += is_repaired
                self.accepted += not is_repaired
        for text in list(self.waiting)[:-_MAX_WAITING]:
            del self.waiting[text]
            self.unused += 1

    def keep_latest(self) -> None:
        """Forget what was refused or failed long ago: a session would keep ever more of it."""
        del self.refused[:-_MAX_TOLD]
        del self.failures[:-_MAX_TOLD]

    def report(self) -> ModelReport:
        """Freeze it."""
        return ModelReport(
            asked=self.asked,
            accepted=self.accepted,
            repaired=self.repaired,
            unused=self.unused + len(self.waiting),
            refused=tuple(self.refused),
            failures=tuple(self.failures),
            calls=self.usage.calls,
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
            cost_usd=self.usage.cost_usd,
        )


class Asker:
    """Puts questions to a summarizer and a classifier; safe to share between threads and loops."""

    def __init__(
        self,
        *,
        summarizer: Summarizer | None = None,
        classifier: Classifier | None = None,
        count_tokens: TokenCounter,
        pass_seconds: float | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.summarizer = summarizer
        self.classifier = classifier
        self._count_tokens = ForgivingCounter(count_tokens, estimate_tokens)
        if pass_seconds is not None:
            check_number("pass_seconds", pass_seconds)
        self._pass_seconds = pass_seconds
        self._listener = listener
        self._judging = Limiter(_MAX_JUDGING)

    @property
    def is_enabled(self) -> bool:
        """Whether there is anybody to ask."""
        return self.summarizer is not None or self.classifier is not None

    async def answer(self, questions: Questions, tally: Tally) -> Answers:
        """Answer all questions at once; what is not answered in time has no answer."""
        judged: dict[str, Judgement] = {}
        written: dict[str, str] = {}
        works = [
            *(self._judge(text, judged, tally) for text in questions.judge),
            *(self._write(text, questions, written, tally) for text in questions.write),
        ]
        await self._settle(works, tally)
        return Answers(judged=judged, written=written)

    async def _settle(self, works: list[Coroutine[Any, Any, str]], tally: Tally) -> None:
        """Run all works to their end or to the deadline; no task is left behind in any case.

        A work returns what went wrong, or nothing.
        """
        done = 0
        clock = asyncio.get_running_loop().time  # the clock of the deadline
        started = clock()
        left = None if self._pass_seconds is None else self._pass_seconds - tally.seconds_asked
        tasks = [asyncio.ensure_future(work) for work in works]
        scope = asyncio.timeout(left)
        try:
            self._tell("start", 0, len(tasks))
            if left is None or left > 0:
                async with scope:
                    for next_done in asyncio.as_completed(tasks):
                        problem = await next_done
                        done += 1
                        self._tell("failed" if problem else "item", done, len(tasks), problem)
        except TimeoutError:
            if not scope.expired():  # the listener's own
                raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            tally.seconds_asked += clock() - started
        if done < len(tasks):
            tally.failures.append(
                f"the pass was over after {self._pass_seconds} s; {len(tasks) - done} of "
                f"{len(tasks)} answers were still out"
            )
            self._tell("failed", done, len(tasks), tally.failures[-1])
        self._tell("done", done, len(tasks))

    def _tell(self, kind: EventKind, done: int, total: int, detail: str = "") -> None:
        if self._listener is not None:
            self._listener(Event(kind=kind, done=done, total=total, detail=detail))

    async def _judge(self, text: str, judged: dict[str, Judgement], tally: Tally) -> str:
        from refold.scan.redaction import hide_secrets  # only for who has a classifier

        assert self.classifier is not None, "nothing is judged without a classifier"
        tally.asked += 1
        await self._judging.slots.acquire()
        try:
            verdict = expect_verdict(await self.classifier.classify(hide_secrets(text)))
        except BaseException as error:  # noqa: BLE001 - a model's client may raise anything
            return _failure(error, tally)
        finally:
            self._judging.slots.release()
        tally.accepted += 1
        judged[text] = Judgement(preserve=verdict.decision == "preserve", reason=verdict.reason)
        return ""

    async def _write(
        self, text: str, questions: Questions, written: dict[str, str], tally: Tally
    ) -> str:
        from refold.llm.gates.base import Source

        assert self.summarizer is not None, "nothing is written without a summarizer"
        tally.asked += 1
        dialogue = _dialogue(Source(text, self._count_tokens), questions, tally)
        request, problem = next(dialogue), ""
        while True:
            answer: str | None = None
            try:
                summary = await self.summarizer.summarize(request)
                if not isinstance(summary, Summary) or not isinstance(summary.text, str):
                    raise TypeError(f"a summarizer must return a Summary, got {summary!r:.80}")
                answer = summary.text
                tally.usage += summary.usage
            except BaseException as error:  # noqa: BLE001 - a model's client may raise anything
                problem = _failure(error, tally)
            try:
                request = dialogue.send(answer)
            except StopIteration as end:
                if end.value is not None:
                    written[text] = end.value
                return problem


def _failure(error: BaseException, tally: Tally) -> str:
    """Note what a model's client raised, which may be anything; let through what ends the run."""
    task = asyncio.current_task()
    is_ours = isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling()
    if is_ours or isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
        raise error
    problem = describe(error)
    tally.failures.append(problem)
    tally.usage += usage_of(error)
    return problem


def _dialogue(
    source: Source, questions: Questions, tally: Tally
) -> Generator[SummaryRequest, str | None, str | None]:
    """Ask for a summary, at most twice; return what may be used, if anything.

    What one of a stretch leaves of its room goes to lines of the digest by the rules.
    """
    from refold.llm.gates import check, choose_answer, fill, true_lines

    rules = questions.rules.get(source.text)
    is_stretch = source.text in questions.stretches
    tokens = max(_MIN_ANSWER_TOKENS, int(_ANSWER_SHARE * source.count_tokens(source.text)))
    room = source.count_tokens(rules) if is_stretch and rules is not None else None
    tokens = tokens if room is None else room
    context = questions.contexts.get(source.text, "")
    request = SummaryRequest(text=source.text, max_tokens=tokens, context=context)
    refused: list[tuple[str, tuple[Refusal, ...]]] = []
    while len(refused) < _MAX_ANSWERS:
        said = yield request
        if said is None:
            break
        answer = said.strip()
        if is_stretch:
            answer, untrue = true_lines(source, answer)
            _note(source, untrue, tally)
        refusals = check(source, answer)
        if not refusals:
            tally.waiting[source.text] = False
            return answer if room is None or rules is None else fill(source, answer, rules, room)
        _note(source, refusals, tally)
        refused.append((answer, refusals))
        missing = tuple(dict.fromkeys(fact for refusal in refusals for fact in refusal.missing))
        # A summary of many messages need not have all facts: doubtful ones are cut without asking.
        may_end = is_stretch or all(refusal.is_false for refusal in refusals)
        if may_end and choose_answer(source, refused, rules, room) is not None:
            break
        # With nothing to name, the same question would get the same answer: ask for less.
        request = replace(request, max_tokens=tokens if missing else tokens // 2, must_keep=missing)
    chosen = choose_answer(source, refused, rules, room)
    if chosen is None:
        return None
    tally.waiting[source.text] = chosen.is_repaired
    if room is None or rules is None:
        return chosen.text
    return fill(source, chosen.text, rules, room)


def _note(source: Source, refusals: Iterable[Refusal], tally: Tally) -> None:
    tally.refused.extend(
        RefusedAnswer(gate=r.gate, why=r.why, missing=r.missing, text=source.text) for r in refusals
    )


@dataclass(frozen=True, slots=True)
class _End(Generic[T]):
    value: T


def _advance(flow: Flow[T], answers: Answers | None) -> Questions | _End[T]:
    """Run *flow* until its next question or its end."""
    try:
        return next(flow) if answers is None else flow.send(answers)
    except StopIteration as end:
        return _End(end.value)


def run(flow: Flow[T], asker: Asker, tally: Tally) -> T:
    """Drive *flow* to its end, waiting for each batch of answers."""
    step = _advance(flow, None)
    while not isinstance(step, _End):
        step = _advance(flow, run_apart(partial(asker.answer, step, tally)))
    return step.value


async def arun(flow: Flow[T], asker: Asker, tally: Tally) -> T:
    """Drive *flow* to its end; its own work happens in a thread, so the event loop stays free."""
    step = await asyncio.to_thread(_advance, flow, None)
    while not isinstance(step, _End):
        step = await asyncio.to_thread(_advance, flow, await asker.answer(step, tally))
    return step.value


def run_apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end from synchronous code, also when an event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(max_workers=1) as executor:
        return executor.submit(lambda: asyncio.run(work())).result()
