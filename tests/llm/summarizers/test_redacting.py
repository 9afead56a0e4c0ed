"""`Redacting`: no secret reaches the summarizer, every secret comes back."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest
from refold.llm.summarizers.stack import Redacting
from refold.scan.secrets import find_secrets
from tests.llm.summarizers.contract import (
    PAID,
    TEXT,
    ForeignError,
    Scripted,
    SummarizerContract,
    ask,
    run,
)


class TestRedacting(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Redacting(inner)


class Repeats:
    """Answers with the text and the facts it was given, and keeps them."""

    def __init__(self) -> None:
        self.seen: SummaryRequest = ask("")

    async def summarize(self, request: SummaryRequest) -> Summary:
        self.seen = request
        return Summary(text="\n".join((request.text, *request.must_keep)), usage=PAID)


ALNUM = string.ascii_letters + string.digits
BODY = "aZ3kQ9xW2mN7pL5tR8vB4cY6dF1gH0jS3uE9iO2"
ARMOR = (
    "-----BEGIN RSA PRIVATE KEY-----\n" + (BODY * 2)[:64] + "\nabc=\n-----END RSA PRIVATE KEY-----"
)
JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{BODY}"

SECRETS = [
    f"sk-{BODY}",
    f"sk-ant-api03-{BODY}",
    f"sk-proj-{BODY}_-x",
    "AKIAIOSFODNN7EXAMPLE",
    *(f"{prefix}_{BODY[:36]}" for prefix in ("ghp", "gho", "ghs", "ghr", "ght", "ghu")),
    f"github_pat_{BODY}",
    *(f"{prefix}_{BODY[:24]}" for prefix in ("sk_live", "sk_test", "rk_live", "rk_test")),
    f"xoxb-123456789012-{BODY[:24]}",
    f"xoxp-{BODY}",
    f"SG.{BODY[:22]}.{BODY}",
    f"glpat-{BODY[:20]}",
    f"npm_{BODY[:36]}",
    f"AIza{BODY[:35]}",
    ARMOR,
    ARMOR.replace("\n", "\\n"),
    JWT,
]

AROUND = [
    ("password=", ""),
    ("PASSWORD = ", ""),
    ("DB_PASS=", " # comment"),
    ("token: ", ""),
    ('{"token": "', '", "x": 1}'),
    ('{\\"api_key\\": \\"', '\\"}'),
    ("client_secret='", "'"),
    ("OPENAI_API_KEY=", "\nnext line"),
    ("aws_secret_access_key = ", ""),
    ("curl --api-key ", " https://example.org"),
    ("--password=", ""),
    ("Authorization: Bearer ", ""),
    ("authorization: Basic ", ""),
    ('-H "Authorization: token ', '"'),
    ("Authorization: ", ""),
    ("sent Bearer ", " to it"),
    ("token: Bearer ", ""),
    ("postgres://user:", "@db.example.org:5432/main"),
    ("redis://:", "@localhost"),
    ("Server=x;Password=", ";Database=y"),
    ("https://example.org/?token=", "&page=2"),
    (":password => '", "'"),
    ("<password>", "</password>"),
]


def sent(text: str, *facts: str) -> SummaryRequest:
    repeats = Repeats()
    answer = run(Redacting(repeats).summarize(ask(text, must_keep=facts)))
    assert answer.text.startswith(text)
    assert answer.usage == PAID
    return repeats.seen


@pytest.mark.parametrize("secret", SECRETS)
def test_keys_of_all_kinds_by_their_shape(secret: str) -> None:
    for text in ("{}", "the key is {}.", 'x = "{}"', "({})\n", "a/{}?b", "key:{},"):
        seen = sent(text.replace("{}", secret))
        assert secret not in seen.text
        assert "<secret-1>" in seen.text


@pytest.mark.parametrize(
    "secret", ["hunter2hunter2", "tr0ub4dor&3!x", "Pa$$w0rd%#^~", "MTIzNDU2Nzg="]
)
def test_values_by_what_stands_before(secret: str) -> None:
    for before, after in AROUND:
        seen = sent(f"First. {before}{secret}{after}")
        assert secret.rstrip("!") not in seen.text
        assert f"First. {before}<secret-1>" in seen.text


@given(
    st.lists(st.sampled_from(AROUND), min_size=1, max_size=5),
    # A word of letters alone may as well be a variable.
    st.text(ALNUM, min_size=5, max_size=27).map("{}7Zq".format),
    st.lists(st.sampled_from(SECRETS), max_size=4),
    st.lists(st.text(max_size=30), min_size=9, max_size=9),
)
def test_no_secret_is_sent_and_all_come_back(
    named: list[tuple[str, str]], value: str, keys: list[str], noise: list[str]
) -> None:
    frame = "".join(a + b for a, b in AROUND) + "secret-0123456789"
    assume(value not in frame)
    between = iter(noise)
    words = [f"\n{before}{value}{after}\n{next(between)}" for before, after in named]
    words += [f" {key} {next(between)}" for key in keys]
    text = f"{value} is used:" + "".join(words)
    seen = sent(text, value, *keys, f"key {value}", "plain")
    everything = "\n".join((seen.text, *seen.must_keep))
    for secret in (value, *keys):
        assert secret not in everything


@given(st.text(alphabet=" \n<>secrt-0123456789:=\"'ab", max_size=120))
def test_whatever_the_text_it_comes_back(text: str) -> None:
    sent(text)


def test_the_same_secret_has_the_same_placeholder() -> None:
    key = SECRETS[0]
    seen = sent(f"{key} and {SECRETS[3]} and again {key}", key)
    assert seen.text == "<secret-1> and <secret-2> and again <secret-1>"
    assert seen.must_keep == ("<secret-1>",)


def test_a_password_is_hidden_where_nothing_stands_before_it_too() -> None:
    seen = sent("It was hunter2hunter2. Set password=hunter2hunter2!", "was hunter2hunter2")
    assert seen.text == "It was <secret-1>. Set password=<secret-1>!"
    assert seen.must_keep == ("was <secret-1>",)


def test_a_short_value_is_hidden_only_where_it_was_found() -> None:
    seen = sent("the password=the is the word", "the")
    assert seen.text == "the password=<secret-1> is the word"


def test_a_fact_that_is_part_of_a_secret_becomes_its_placeholder() -> None:
    seen = sent(f"use sk-{BODY} on port 3", BODY[4:12], f"use sk-{BODY[:5]}", "port 3")
    assert seen.must_keep == ("<secret-1>", "use <secret-1>", "port 3")


def test_placeholders_of_others_are_not_ours() -> None:
    seen = sent(f"<secret-1> is not {SECRETS[0]}, nor is <SECRET-2>")
    assert seen.text == "<secret-1> is not <secret-3>, nor is <SECRET-2>"


@pytest.mark.parametrize("form", ["<secret-1>", "<SECRET-1>", "&lt;secret-1&gt;"])
def test_what_models_make_of_a_placeholder_is_understood(form: str) -> None:
    inner = Scripted(f"the key {form} and <secret-99>")
    answer = run(Redacting(inner).summarize(ask(f"it is {SECRETS[0]}")))
    assert answer.text == f"the key {SECRETS[0]} and <secret-99>"


def test_a_key_whose_end_is_missing() -> None:
    seen = sent("cat id_rsa\n" + ARMOR[: ARMOR.index("\nabc=")] + "\nMIIB")
    assert seen.text == "cat id_rsa\n<secret-1>"
    mention = "A file with -----BEGIN PRIVATE KEY----- in it is a key."
    assert sent(mention).text == mention


def test_what_is_no_secret_stays() -> None:
    for text in (
        TEXT,
        "max_tokens: 300 and tokens = 5, if token == other",
        "see https://example.org:8080/a@b and user@example.org",
        "class sk-button and task-list-of-things, the risk-averse",
        "the password is asked for later",
    ):
        assert find_secrets(text) == []


def test_a_finder_of_your_own() -> None:
    inner = Repeats()
    redacting = Redacting(inner, find_secrets=lambda text: [(0, 3), (2, 5), (-4, 0), (90, 99)])
    assert run(redacting.summarize(ask("abcdefg"))).text == "abcdefg"
    assert inner.seen.text == "<secret-1>fg"


def test_a_text_that_could_not_be_searched_is_not_sent() -> None:
    inner = Scripted()

    def find(text: str) -> list[tuple[int, int]]:
        raise ForeignError

    with pytest.raises(ForeignError):
        run(Redacting(inner, find_secrets=find).summarize(ask()))
    assert inner.requests == []


def test_what_is_said_about_the_text_holds_no_secret_either() -> None:
    inner = Repeats()
    context = f"Tool: login\nArguments: password={BODY}"
    for text in ("all is well", f"the token is token={BODY}"):
        run(Redacting(inner).summarize(SummaryRequest(text=text, context=context)))
        assert BODY not in inner.seen.context + inner.seen.text
        assert inner.seen.context == "Tool: login\nArguments: password=<secret-1>"
