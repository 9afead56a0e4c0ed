"""What the pipeline asks of models: ask, check, ask once more, use the answer or none.

Many questions are put at once, by one driver for synchronous and one for asynchronous callers.

asyncio is imported where a model is asked: without one, it would take longer to load than to fold.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final, Generic, Self, TypeVar

from refold.checks import check_number
from refold.errors import describe
from refold.events import Event, EventKind, Listener
from refold.llm.summarizers.base import Summarizer, SummaryRequest, Usage, usage_of
from refold.result import ModelReport, RefusedAnswer
from refold.scan.tokens.counter import ForgivingCounter, TokenCounter
from refold.scan.tokens.estimate import estimate_tokens

T = TypeVar("T")

_MOST_KEPT: Final = 256
"""How many refusals and failures a session reports, the latest."""
_MAX_ANSWERS: Final = 2
"""The first answer, and one that knows what the first lacked; after that the rules do it."""
_MIN_ANSWER_TOKENS: Final = 40
"""Room for a sentence or two, however short the text is. A guess."""
_ANSWER_SHARE: Final = 0.4
"""About how long an answer should be, compared with its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Texts that a model should write shorter; each distinct text once."""

    write: tuple[str, ...] = ()
    contexts: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a text is, for some of them."""
    rooms: Mapping[str, int] = field(default_factory=dict[str, int])
    """The most tokens that an answer may take, for some: it then need not have all values."""
    is_free: bool = False
    """Whether the prompt is the caller's own: an answer may leave out and reshape what it likes."""

    def __len__(self) -> int:
        return len(self.write)


Answers = Mapping[str, str]
"""What a model wrote for texts and the checks let through."""
Flow = Generator[Questions, Answers, T]
"""Pure logic that yields questions and resumes with the answers."""


@dataclass(slots=True)
class Tally:
    """What happened to the questions of one compression."""

    asked: int = 0
    accepted: int = 0
    repaired: int = 0
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
        usage = Usage(
            calls=report.calls,
            input_tokens=report.input_tokens,
            output_tokens=report.output_tokens,
        )
        return cls(
            asked=report.asked,
            accepted=report.accepted,
            repaired=report.repaired,
            refused=[*report.refused],
            failures=[*report.failures],
            usage=usage,
        )

    def keep_latest(self) -> None:
        """Forget old refusals and failures: a session would pile up ever more of them."""
        del self.refused[:-_MOST_KEPT]
        del self.failures[:-_MOST_KEPT]

    def report(self) -> ModelReport:
        """Return the counts so far as a report."""
        return ModelReport(
            asked=self.asked,
            accepted=self.accepted,
            repaired=self.repaired,
            refused=tuple(self.refused),
            failures=tuple(self.failures),
            **asdict(self.usage),
        )


class Asker:
    """Puts questions to a summarizer; safe to share between threads and loops."""

    def __init__(
        self,
        *,
        summarizer: Summarizer | None = None,
        count_tokens: TokenCounter,
        pass_seconds: float | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.summarizer = summarizer
        self._count_tokens = ForgivingCounter(count_tokens, estimate_tokens)
        if pass_seconds is not None:
            check_number("pass_seconds", pass_seconds)
        self._pass_seconds = pass_seconds
        self._listener = listener

    @property
    def is_enabled(self) -> bool:
        """Whether there is a model to ask."""
        return self.summarizer is not None

    async def answer(self, questions: Questions, tally: Tally) -> Answers:
        """Answer all questions at once; what is not answered in time has no answer."""
        written: dict[str, str] = {}
        jobs = [self._write(text, questions, written, tally) for text in questions.write]
        await self._settle(jobs, tally)
        return written

    async def _settle(self, jobs: list[Coroutine[Any, Any, str]], tally: Tally) -> None:
        """Run all jobs to their end or to the deadline; no task is left running in any case.

        Each job returns what went wrong, or an empty string.
        """
        import asyncio

        done = 0
        clock = asyncio.get_running_loop().time  # the clock of the deadline
        started = clock()
        left = None if self._pass_seconds is None else self._pass_seconds - tally.seconds_asked
        tasks = [asyncio.ensure_future(job) for job in jobs]
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
                f"the pass had ended after {self._pass_seconds} s; {len(tasks) - done} of "
                f"{len(tasks)} answers were still out"
            )
            self._tell("failed", done, len(tasks), tally.failures[-1])
        self._tell("done", done, len(tasks))

    def _tell(self, kind: EventKind, done: int, total: int, detail: str = "") -> None:
        if self._listener is not None:
            self._listener(Event(kind=kind, done=done, total=total, detail=detail))

    async def _write(
        self, text: str, questions: Questions, written: dict[str, str], tally: Tally
    ) -> str:
        """Ask for a summary, at most twice, and note what may be used: return what went wrong.

        An answer is used as written, with what it lacks as its last line, or not at all.
        """
        # The checks compile many patterns; a caller that never asks a model need not load them.
        from refold.llm.checks import Source, check, complete

        assert self.summarizer is not None, "nothing is written without a summarizer"
        tally.asked += 1
        source, room = Source(text, self._count_tokens), questions.rooms.get(text)
        most = max(_MIN_ANSWER_TOKENS, int(_ANSWER_SHARE * source.tokens))
        request = SummaryRequest(
            text=text,
            max_tokens=most if room is None else room,
            context=questions.contexts.get(text, ""),
        )
        for _ in range(_MAX_ANSWERS):
            try:
                summary = await self.summarizer.summarize(request)
                answer = summary.text.strip()
                tally.usage += summary.usage
            except BaseException as error:  # noqa: BLE001 - a model's client may raise anything
                return _failure(error, tally)
            refusals = check(source, answer, is_free=questions.is_free)
            used = complete(source, answer, refusals, room)
            if used is not None:
                tally.repaired += used != answer
                tally.accepted += used == answer
                written[text] = used
                break
            tally.refused += [RefusedAnswer(check=one.check, why=one.why) for one in refusals]
            missing = tuple(dict.fromkeys(fact for one in refusals for fact in one.missing))
            # With nothing to name, the same question would get the same answer: ask for less.
            tokens = request.max_tokens if missing else request.max_tokens // 2
            request = replace(request, max_tokens=tokens, must_keep=missing)
        return ""


def _failure(error: BaseException, tally: Tally) -> str:
    """Note what a model's client raised, which may be anything; let through what ends the run.

    It may quote the request or the key; neither is shown.
    """
    import asyncio

    from refold.scan.redaction import hide_secrets  # only for who asks a model

    task = asyncio.current_task()
    is_ours = isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling()
    if is_ours or isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
        raise error
    problem = hide_secrets(describe(error))
    tally.failures.append(problem)
    tally.usage += usage_of(error)
    return problem


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
    import asyncio

    step = await asyncio.to_thread(_advance, flow, None)
    while not isinstance(step, _End):
        step = await asyncio.to_thread(_advance, flow, await asker.answer(step, tally))
    return step.value


def run_apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end from synchronous code, also when an event loop is running."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(max_workers=1) as executor:
        return executor.submit(lambda: asyncio.run(work())).result()
