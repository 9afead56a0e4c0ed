"""Contents of Gemini: calls without ids, signatures, fields of responses; all of it comes back."""

from __future__ import annotations

from typing import Any

import pytest

from refold import (
    CompressionManager,
    ContextWindowManager,
    MemoryStore,
    MessageError,
    Session,
    compress,
    uncompress,
)
from refold.messages.formats import load
from tests.conversations import SENTENCES, Conversation
from tests.messages.formats.providers import check_gemini

LONG = " ".join(SENTENCES)


def call(number: int) -> Conversation:
    body = {"name": "read", "args": {"number": number}}
    return [
        {
            "role": "model",
            "parts": [
                {"text": f"thinking of {number}", "thought": True},
                {"functionCall": body, "thoughtSignature": "c2ln"},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "read", "response": {"result": f"{number} {LONG}"}}}
            ],
        },
    ]


def run(turns: int) -> Conversation:
    return [
        {"role": "user", "parts": [{"text": "Read all of it."}]},
        *(content for number in range(turns) for content in call(number)),
        {"role": "model", "parts": [{"text": "Done."}]},
        {"role": "user", "parts": [{"text": "And now?"}]},
    ]


def test_a_content_is_read_into_values() -> None:
    message, answer = load(call(7))
    assert (message.role, answer.role) == ("assistant", "user")
    assert [(c.name, c.arguments) for c in message.calls] == [("read", {"number": 7})]
    assert message.thinking == ["thinking of 7"]
    assert not message.parts
    (part,) = answer.parts
    assert part.call_id == message.calls[0].id
    assert part.path == ("parts", 0, "functionResponse", "response", "result")


def test_the_names_of_the_python_sdk_are_the_same() -> None:
    snake = {"role": "model", "parts": [{"function_call": {"name": "read", "args": {}}}]}
    assert load([snake])[0].calls[0].name == "read"


def test_a_signed_text_is_never_touched() -> None:
    signed = {"role": "model", "parts": [{"text": LONG, "thoughtSignature": "c2ln"}]}
    message = load([signed])[0]
    assert not message.parts
    assert message.opaque == [LONG]


def test_data_in_a_response_may_be_said_shorter() -> None:
    rows = [{"row": number, "name": f"harbour {number}", "open": True} for number in range(40)]
    contents = run(2)
    contents[2]["parts"][0]["functionResponse"]["response"] = {"rows": rows, "count": 40}
    result = compress(contents, profile="lossless")
    response = result.messages[2]["parts"][0]["functionResponse"]["response"]
    assert isinstance(response["rows"], str)
    assert response["count"] == 40
    assert uncompress(result.messages, result.verbatim).messages == contents


@pytest.mark.parametrize("profile", ["classic", "standard"])
@pytest.mark.parametrize("budget", [300, 900, 2_000])
def test_sides_take_turns_in_what_fits(profile: Any, budget: int) -> None:
    contents = run(12)
    result = compress(contents, profile=profile, token_budget=budget)
    assert result.fits
    check_gemini(result.messages)
    assert uncompress(result.messages, result.verbatim).messages == contents


def test_a_saved_session_goes_on() -> None:
    store = MemoryStore()
    session = Session(token_budget=700, profile="standard")
    contents = run(12)
    for end, content in enumerate(contents, 1):
        session.append(content)
        view = session.view()
        assert uncompress(view, session.verbatim).messages == contents[:end]
        session = Session.resume(session.save(store), store)
        assert session.view() == view
    check_gemini(view)


def test_a_manager_and_a_window_take_contents() -> None:
    manager = CompressionManager(compress_tool_results_limit=2)
    assert manager.compress(run(4)).compressed
    fitted = ContextWindowManager(context_limit=3_000, reserve_output_tokens=500).fit(run(12))
    assert fitted.fits


def test_what_is_no_list_of_parts_is_refused() -> None:
    with pytest.raises(MessageError, match=r"messages\[0\]\.parts.*list of parts"):
        compress([{"role": "user", "parts": "hello"}])
    with pytest.raises(MessageError, match=r"messages\[0\]\.parts\[0\].*mapping"):
        compress([{"role": "user", "parts": ["hello"]}])


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"inlineData": {"mimeType": "image/png", "data": "aGk="}}, "image"),
        ({"file_data": {"mime_type": "audio/mp3", "file_uri": "gs://tapes/1"}}, "audio"),
        ({"inlineData": {"data": "aGk="}}, "file"),
    ],
    ids=["image", "audio", "untold"],
)
def test_media_are_what_their_type_says(data: Any, kind: str) -> None:
    (message,) = load([{"role": "user", "parts": [{"text": "See."}, data]}])
    assert [(media.kind, media.path) for media in message.media] == [(kind, ("parts", 1))]
