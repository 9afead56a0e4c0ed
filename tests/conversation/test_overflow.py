"""Which errors say that a prompt is too long."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.conversation.overflow import MAX_CHARS, parse_overflow

OPENAI = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in "
    "130,512 tokens. Please reduce the length of the messages."
)

# (text, limit, requested, prompt)
OVERFLOWS: list[tuple[str, int | None, int | None, int | None]] = [
    (OPENAI, 128_000, 130_512, 130_512),
    (
        "This model's maximum context length is 4096 tokens. However, you requested 4118 tokens "
        "(3118 in the messages, 1000 in the completion). Please reduce the length of the messages "
        "or completion.",
        4_096,
        4_118,
        3_118,
    ),
    (
        "This model's maximum context length is 8191 tokens, however you requested 8238 tokens "
        "(8238 in your prompt; 0 for the completion).",
        8_191,
        8_238,
        8_238,
    ),
    (
        "This model\\'s maximum context length is 128000 tokens. However, your messages resulted "
        "in 202868 tokens (202767 in the messages, 101 in the functions).",
        128_000,
        202_868,
        202_868,
    ),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in "
        "289650 tokens. Please reduce the length of the messages.",
        272_000,
        289_650,
        289_650,
    ),
    ("Your input exceeds the context window of this model.", None, None, None),
    ("Request size exceeds model context window", None, None, None),
    (
        "Too many input tokens. Max input tokens: 8192, request input token count: 10217",
        8_192,
        10_217,
        10_217,
    ),
    ("Too many input tokens. Max input tokens: 8192", None, None, None),
    (
        "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
        4_096,
        5_000,
        5_000,
    ),
    ("prompt is too long: 210000 tokens > 200000 maximum", 200_000, 210_000, 210_000),
    (
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease "
        "input length or `max_tokens` and try again",
        200_000,
        210_000,
        190_000,
    ),
    (
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        1_048_576,
        1_200_000,
        1_200_000,
    ),
    (
        "The input token count exceeds the maximum number of tokens allowed (1048576).",
        1_048_576,
        None,
        None,
    ),
    (
        "Unable to submit request because the input token count is 1251952 but model only supports "
        "up to 1048576. Reduce the input token count and try again.",
        1_048_576,
        1_251_952,
        1_251_952,
    ),
    (
        "An error occurred (ValidationException) when calling the InvokeModel operation: Input is "
        "too long for requested model.",
        None,
        None,
        None,
    ),
    (
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the "
        "input to try again.",
        None,
        None,
        None,
    ),
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
        "context length",
        32_768,
        40_000,
        40_000,
    ),
    (
        "The decoder prompt (length 21535) is longer than the maximum model length of 16384. Make "
        "sure that `max_model_len` is no smaller than the number of text tokens.",
        16_384,
        21_535,
        21_535,
    ),
    (
        "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
        4_096,
        25_938,
        25_938,
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context "
        "length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
        4_096,
        4_104,
        2_104,
    ),
    (
        "You passed 5000 input tokens and requested 100 output tokens. However, the model's "
        "context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens.",
        4_096,
        5_100,
        5_000,
    ),
    (
        "Input prompt (36893 tokens) is too long and exceeds limit of 1000",
        1_000,
        36_893,
        36_893,
    ),
    (
        "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        40_960,
        61_709,
        61_709,
    ),
    (
        "Requested token count exceeds the model's maximum context length of 131072 tokens.  You "
        "requested a total of 254837 tokens: 123765 tokens from the input messages and 131072 "
        "tokens for the completion.",
        131_072,
        254_837,
        123_765,
    ),
    (
        "the request exceeds the available context size. try increasing the context size or enable "
        "context shift",
        None,
        None,
        None,
    ),
    (
        '{"error":{"code":400,"message":"the request exceeds the available context size","type":'
        '"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}',
        8_192,
        14_429,
        14_429,
    ),
    (
        "request (8000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        4_096,
        8_000,
        8_000,
    ),
    ("Requested tokens (2285) exceed context window of 2048", 2_048, 2_285, 2_285),
    (
        "Trying to keep the first 7654 tokens when context the overflows. However, the model is "
        "loaded with context length of only 4096 tokens, which is not enough.",
        4_096,
        7_654,
        7_654,
    ),
    ("the input length exceeds the context length", None, None, None),
    ("prompt too long; exceeded max context length by 4096 tokens", None, None, None),
    (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about "
        '141607 tokens (10535 of text input, 131072 in the output). Please use the "middle-out" '
        "transform.",
        131_072,
        141_607,
        10_535,
    ),
    (
        "Error code: 400 - {'error': {'message': 'Please reduce the length of the messages or "
        "completion.', 'type': 'invalid_request_error', 'code': 'context_length_exceeded'}}",
        None,
        None,
        None,
    ),
    (
        "Please reduce the length of the messages or completion. Current length is 69553 while "
        "limit is 65536",
        65_536,
        69_553,
        69_553,
    ),
    (
        "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
        131_072,
        136_973,
        136_973,
    ),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000 "
        "`inputs` tokens and 1024 `max_new_tokens`",
        1_512,
        2_024,
        1_000,
    ),
    (
        "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - "
        "received 6354. Try using a shorter prompt",
        2_048,
        6_354,
        6_354,
    ),
    (
        "Your request exceeded model token limit: 262144 (requested: 300000)",
        262_144,
        300_000,
        300_000,
    ),
    ("invalid params, context window exceeds limit (2013)", None, None, None),
    ("prompt token count of 130000 exceeds the limit of 128000", 128_000, 130_000, 130_000),
    ("Range of input length should be [1, 30720]", 30_720, None, None),
    (
        'litellm.ContextWindowExceededError: AnthropicException - b\'{"error":{"message":'
        '"prompt is too long: 202128\n tokens > 200000 maximum"}}\'',
        200_000,
        202_128,
        202_128,
    ),
]

OTHERS = [
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, "
    "Requested 30601. The input or output tokens must be reduced in order to run successfully.",
    "Request too large for model `llama-3.3-70b-versatile` in organization `x` service tier "
    "`on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your "
    "message size and try again.",
    "Rate limit reached for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, "
    "Used 5034, Requested 1443. Please try again in 4.77s.",
    "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
    "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your "
    "current OpenAI S0 pricing tier. Please retry after 86400 seconds.",
    "An error occurred (ThrottlingException): Too many tokens, please wait before trying again.",
    "You exceeded your current quota, please check your plan and billing details.",
    "429 RESOURCE_EXHAUSTED. Quota exceeded for metric: input_token_count, limit: 250000",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    "max_tokens: 65000 > 8192, which is the maximum allowed number of output tokens",
    "The maximum tokens you requested exceeds the model limit of 32768",
    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576",
    "request_too_large: Request exceeds the maximum size",
    "The model `gpt-9` does not exist",
    "Connection error.",
    "context deadline exceeded",
    "",
]


@pytest.mark.parametrize(("text", "limit", "requested", "prompt"), OVERFLOWS)
def test_an_overflow_is_recognised(
    text: str, limit: int | None, requested: int | None, prompt: int | None
) -> None:
    for error in (text, RuntimeError(text), {"error": {"message": text}}, text.encode()):
        found = parse_overflow(error)
        assert found is not None
        assert (found.limit, found.requested, found.prompt) == (limit, requested, prompt)


@pytest.mark.parametrize("text", OTHERS)
def test_other_errors_are_not_overflows(text: str) -> None:
    for error in (text, RuntimeError(text), {"error": {"message": text}}, text.encode()):
        assert parse_overflow(error) is None


def response(status: int, body: dict[str, Any]) -> httpx2.Response:
    request = httpx2.Request("POST", "https://example.org")
    return httpx2.Response(status, json=body, request=request)


def openai_error(status: int, **error: object) -> openai.APIStatusError:
    body = {"error": error}
    return openai.APIStatusError(
        f"Error code: {status} - {body}", response=response(status, body), body=error
    )


def test_the_error_of_the_openai_sdk() -> None:
    found = parse_overflow(openai_error(400, message=OPENAI, code="context_length_exceeded"))
    assert found is not None
    assert (found.limit, found.requested, found.excess) == (128_000, 130_512, 2_512)


def test_a_code_is_enough() -> None:
    found = parse_overflow(openai_error(400, message="no", code="context_length_exceeded"))
    assert found is not None
    assert found.limit is found.requested is found.excess is None


def test_the_error_of_the_anthropic_sdk() -> None:
    message = "prompt is too long: 210000 tokens > 200000 maximum"
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    found = parse_overflow(
        anthropic.BadRequestError(
            f"Error code: 400 - {body}", response=response(400, body), body=body
        )
    )
    assert found is not None
    assert (found.limit, found.requested) == (200_000, 210_000)


def test_a_rate_limit_of_an_sdk_is_none() -> None:
    assert parse_overflow(openai_error(429, message=OPENAI)) is None
    assert parse_overflow(openai_error(413, message="x", code="rate_limit_exceeded")) is None


def test_numbers_in_the_body() -> None:
    body = {
        "error": {
            "code": 400,
            "message": "the request exceeds the available context size",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 1407,
            "n_ctx": 256,
        }
    }
    for error in (body, json.dumps(body)):
        found = parse_overflow(error)
        assert found is not None
        assert (found.limit, found.prompt) == (256, 1_407)


class ClientError(Exception):
    """The shape of botocore's error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__("it failed")
        self.response = {"Error": {"Code": code, "Message": message}}


def test_the_error_of_botocore() -> None:
    message = "Input is too long for requested model."
    assert parse_overflow(ClientError("ValidationException", message)) is not None
    assert parse_overflow(ClientError("ThrottlingException", "Too many tokens: ")) is None


def raised_from(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def test_a_wrapped_error_is_read() -> None:
    assert parse_overflow(raised_from(RuntimeError("it failed"), ValueError(OPENAI))) is not None


def test_what_merely_happened_before_is_not_read() -> None:
    error = RuntimeError("the retry failed")
    error.__context__ = ValueError(OPENAI)
    assert parse_overflow(error) is None


def test_a_rate_limit_hides_its_cause() -> None:
    error = raised_from(RuntimeError("Rate limit reached"), ValueError(OPENAI))
    assert parse_overflow(error) is None


class AwkwardError(Exception):
    @property
    def message(self) -> str:
        raise OSError

    def __str__(self) -> str:
        raise OSError


@pytest.mark.parametrize("error", [None, 7, AwkwardError(), object(), [], {}, b"\xff", [[[]]]])
def test_anything_may_be_asked(error: object) -> None:
    assert parse_overflow(error) is None


@given(
    st.recursive(st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
def test_no_body_raises(error: object) -> None:
    parse_overflow(error)


@pytest.mark.parametrize(
    "piece",
    ["prompt is too long: ", "1,", "prompt contains 1 tokens", "too many tokens: ", "9" * 9],
)
def test_only_the_beginning_of_a_text_is_read(piece: str) -> None:
    text = piece * 100_000
    assert parse_overflow(text) == parse_overflow(text[:MAX_CHARS])
    assert parse_overflow("." * MAX_CHARS + "prompt is too long: 9 tokens > 8") is None
