"""What a user says to pydantic-ai may be a list of words and media."""

from __future__ import annotations

from refold.messages.formats import load


def test_words_between_media_are_read_each_in_its_place() -> None:
    picture = {"kind": "image-url", "url": "https://harbour.example/crane.png"}
    asked = {"part_kind": "user-prompt", "content": ["Look at this.", picture, "And at that."]}
    (message,) = load([{"kind": "request", "parts": [asked]}])
    assert [(part.text, part.path) for part in message.parts] == [
        ("Look at this.", ("parts", 0, "content", 0)),
        ("And at that.", ("parts", 0, "content", 2)),
    ]
    assert [(media.kind, media.path[-1]) for media in message.media] == [("image", 1)]


def test_requests_are_the_users_and_responses_the_assistants() -> None:
    told = {"part_kind": "system-prompt", "content": "Be brief."}
    asked = {"part_kind": "user-prompt", "content": "How high is the crane?"}
    said = {"part_kind": "text", "content": "40 metres."}
    messages = [
        {"kind": "request", "parts": [told]},
        {"kind": "request", "parts": [told, asked]},
        {"kind": "response", "parts": [said]},
    ]
    assert [message.role for message in load(messages)] == ["system", "user", "assistant"]
