"""The measured side of `bench/speed.py`: one process per Python with the package.

Reads a file of conversations, then one job a line from standard input, and answers each with one
line of JSON: seconds by the clock, and seconds of CPU time of everything around it as well. Nothing
but the call in question is inside the clock.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import refold
from generate import Messages, generate_messages

_TURNS_A_RUN: Final = 40
_MAX_RUNS: Final = 20
_STANDARD_SHARE: Final = 0.3
"""The budget of the profile `standard`, as a share of the tokens."""
_fold = partial(refold.compress, profile="classic")


class Worker:
    """Runs jobs on one set of conversations."""

    def __init__(
        self, conversations: list[Messages], clock: Callable[[], float], session_messages: int
    ) -> None:
        self._conversations = conversations
        self._clock = clock
        self._session_messages = session_messages
        self._session: refold.Session | None = None
        self._coming: list[dict[str, Any]] = []
        self.jobs: Mapping[str, Callable[[], float]] = {
            "words": self._words,
            "plain": self._plain,
            "fuzzy": self._fuzzy,
            "budget": self._budget,
            "standard": self._standard,
            "lossless": self._lossless,
            "uncompress": self._uncompress,
            "turn": self._turn,
            "memory": lambda: self._memory(lambda place: _fold(self._conversations[place])),
            "memory of standard": lambda: self._memory(self._fold_to_share),
        }
        self._tokens: list[int] = []
        self._folded: list[refold.Result] = []

    def warm_up(self) -> None:
        """Load everything, and learn what the jobs need to know."""
        self._folded = [_fold(messages) for messages in self._conversations]
        self._tokens = [result.tokens_before for result in self._folded]

    def _words(self) -> float:
        """Return the seconds for finding the words of all contents: a measure of the machine."""
        texts = [
            [text for message in messages for text in _texts(message.get("content"))]
            for messages in self._conversations
        ]
        return self._time(lambda place: [re.findall(r"\w+", text) for text in texts[place]])

    def _plain(self) -> float:
        return self._time(lambda place: _fold(self._conversations[place]))

    def _fuzzy(self) -> float:
        return self._time(lambda place: _fold(self._conversations[place], fuzzy_dedup=True))

    def _budget(self) -> float:
        return self._time(
            lambda place: _fold(
                self._conversations[place], token_budget=max(1, self._tokens[place] // 2)
            )
        )

    def _standard(self) -> float:
        return self._time(self._fold_to_share)

    def _fold_to_share(self, place: int) -> refold.Result:
        budget = max(1, int(_STANDARD_SHARE * self._tokens[place]))
        return refold.compress(self._conversations[place], profile="standard", token_budget=budget)

    def _lossless(self) -> float:
        return self._time(
            lambda place: refold.compress(self._conversations[place], profile="lossless")
        )

    def _uncompress(self) -> float:
        folded = self._folded
        return self._time(
            lambda place: refold.uncompress(folded[place].messages, folded[place].verbatim)
        )

    def _time(self, call: Callable[[int], object]) -> float:
        gc.collect()
        began = self._clock()
        for place in range(len(self._conversations)):
            call(place)
        return self._clock() - began

    def _turn(self) -> float:
        """Return the median seconds of one more message and the view after it."""
        if self._session is None:
            count = self._session_messages
            messages = generate_messages(count + _TURNS_A_RUN * _MAX_RUNS)
            self._session, self._coming = refold.Session(profile="classic"), messages[count:]
            self._session.extend(messages[:count])
            self._session.view()
        times = []
        for message in self._coming[:_TURNS_A_RUN]:
            began = self._clock()
            self._session.append(message)
            self._session.view()
            times.append(self._clock() - began)
        del self._coming[:_TURNS_A_RUN]
        return statistics.median(times)

    def _memory(self, fold: Callable[[int], refold.Result]) -> float:
        """Return the most bytes that were in use at once, beyond the conversation itself."""
        gc.collect()
        tracemalloc.start()
        most = 0
        for place in range(len(self._conversations)):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            result = fold(place)
            most = max(most, tracemalloc.get_traced_memory()[1] - before)
            del result
        tracemalloc.stop()
        return float(most)


def _texts(content: Any) -> list[str]:
    """Return the texts in the content of a message."""
    texts, todo = list[str](), [content]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, list | dict):
            todo += item.values() if isinstance(item, dict) else item
    return texts


def main() -> int:
    """Answer jobs until there are no more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, help="a JSON list of conversations")
    parser.add_argument("--cpu", action="store_true", help="tell CPU time")
    parser.add_argument("--session-messages", type=int, default=4_000)
    arguments = parser.parse_args()
    worker = Worker(
        json.loads(arguments.corpus.read_text(encoding="utf-8")),
        time.process_time if arguments.cpu else time.perf_counter,
        arguments.session_messages,
    )
    worker.warm_up()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        began = time.process_time()
        seconds = worker.jobs[line.strip()]()
        spent = time.process_time() - began
        print(json.dumps({"seconds": seconds, "cpu": spent}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
