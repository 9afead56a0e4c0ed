"""A shell script is read as its commands, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.files.shell_script import Redirect, Word, read_script

Line = list[list[list[str]]]


def steps(script: str) -> list[Line]:
    """Return the words of each command of each pipeline of each step."""
    found = read_script(script)
    assert found is not None
    return [
        [[[word.text for word in command.words] for command in line] for line in step.pipelines]
        for step in found
    ]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        ("ls", [[[["ls"]]]]),
        ("cat a.py  b.py", [[[["cat", "a.py", "b.py"]]]]),
        ("cat a | head -5", [[[["cat", "a"], ["head", "-5"]]]]),
        ("cd x && ls", [[[["cd", "x"]], [["ls"]]]]),
        ("cd x; ls\npwd", [[[["cd", "x"]]], [[["ls"]]], [[["pwd"]]]]),
        ("cat a |\n  head", [[[["cat", "a"], ["head"]]]]),
        ("cd x &&\n\n ls", [[[["cd", "x"]], [["ls"]]]]),
        ("\n\nls\n\n", [[[["ls"]]]]),
        ("echo 'a > b; c'", [[[["echo", "a > b; c"]]]]),
        ('echo "a > b && c"', [[[["echo", "a > b && c"]]]]),
        ("echo 'it'\\''s' a\\ b", [[[["echo", "it's", "a b"]]]]),
        ('echo "a \\"b\\" \\\\ \\n"', [[[["echo", 'a "b" \\ \\n']]]]),
        ("echo a \\\n  b", [[[["echo", "a", "b"]]]]),
        ("ls # > file", [[[["ls"]]]]),
        ("echo a#b", [[[["echo", "a#b"]]]]),
        ("echo ''", [[[["echo", ""]]]]),
        ("echo a\N{NO-BREAK SPACE}b", [[[["echo", "a\N{NO-BREAK SPACE}b"]]]]),
    ],
)
def test_words_pipelines_and_steps(script: str, expected: list[Line]) -> None:
    assert steps(script) == expected


@pytest.mark.parametrize(
    "script",
    [
        "for f in *.py; do rm $f; done",
        "if test -f a; then rm a; fi",
        "while true; do date; done",
        "(cd x && ls)",
        "f() { rm a; }",
        "{ rm a; }",
        "! rm a",
        "[[ a > b ]] && ls",
        "diff <(ls a) <(ls b)",
        "echo 'never closed",
        'echo "never closed',
        "echo $(never closed",
        "ls | | wc",
        "ls &&",
        "| ls",
        "ls >",
    ],
)
def test_what_cannot_be_told_for_certain_is_not_read(script: str) -> None:
    assert read_script(script) is None


@pytest.mark.parametrize(
    ("word", "is_known"),
    [
        ("a.py", True),
        ("'*.py'", True),
        ('"a b.py"', True),
        ("'app/[id]/route.ts'", True),
        ('"s/a$/b/"', True),
        ("cost$", True),
        ("'$HOME'", True),
        ("*.py", False),
        ("a?.py", False),
        ("{a,b}.py", False),
        ("$HOME/a", False),
        ('"$HOME/a"', False),
        ("$(git ls-files)", False),
        ('"$(cat "x y)")"', False),
        ("`ls`", False),
        ("${x:-a b}", False),
        ("$'a\\'b'", False),
    ],
)
def test_a_word_is_known_unless_the_shell_makes_it(word: str, is_known: bool) -> None:
    found = read_script(f"cat {word} end")
    assert found is not None
    words = found[0].pipelines[0][0].words
    assert [word.text for word in words][::2] == ["cat", "end"]
    assert words[1].is_known is is_known


@pytest.mark.parametrize(
    ("script", "redirect"),
    [
        ("ls > a", ("", ">", "a")),
        ("ls >a", ("", ">", "a")),
        ("ls >> 'a b'", ("", ">>", "a b")),
        ("ls 2> a", ("2", ">", "a")),
        ("ls 2>&1", ("2", ">&", "1")),
        ("ls &> a", ("&", ">", "a")),
        ("ls >| a", ("", ">|", "a")),
        ("> a ls", ("", ">", "a")),
        ("ls < a", ("", "<", "a")),
        ("ls <<< a", ("", "<<<", "a")),
    ],
)
def test_redirections(script: str, redirect: tuple[str, str, str]) -> None:
    found = read_script(script)
    assert found is not None
    stream, sign, target = redirect
    assert found[0].pipelines[0][0].redirects == [Redirect(stream, sign, Word(target))]
    assert steps(script) == [[[["ls"]]]]


def test_a_number_before_a_sign_may_belong_to_a_word() -> None:
    found = read_script("echo a2>b")
    assert found is not None
    assert [word.text for word in found[0].pipelines[0][0].words] == ["echo", "a2"]


@pytest.mark.parametrize(
    ("script", "bodies"),
    [
        ("cat > a <<EOF\nx > y\nEOF\nls", ["x > y\n"]),
        ("cat <<'E O F' > a\n'\"\nE O F\nls", ["'\"\n"]),
        ("cat <<-EOF\n\tx\n\tEOF\nls", ["\tx\n"]),
        ("cat <<A <<B\n1\nA\n2\nB\nls", ["1\n", "2\n"]),
        ("cat <<EOF\nEOF\nls", [""]),
        ("cat <<EOF\n EOF\nEOFX\nEOF\nls", [" EOF\nEOFX\n"]),
        ("cat <<EOF && true\nx\nEOF\nls", ["x\n"]),
    ],
)
def test_a_text_in_the_script_is_input_and_no_command(script: str, bodies: list[str]) -> None:
    found = read_script(script)
    assert found is not None
    assert found[0].pipelines[0][0].bodies == bodies
    assert [word.text for word in found[-1].pipelines[0][0].words] == ["ls"]


def test_a_text_without_its_last_line_goes_to_the_end() -> None:
    found = read_script("cat <<EOF\na\nb")
    assert found is not None
    assert found[0].pipelines[0][0].bodies == ["a\nb"]


@pytest.mark.parametrize(
    ("script", "sure"),
    [
        ("a && b", [True]),
        ("a || b", [False]),
        ("a && b || c", [False]),
        ("a &", [False]),
        ("a & b", [False, True]),
        ("a || b; c", [False, True]),
    ],
)
def test_what_runs_beside_or_instead_is_not_sure(script: str, sure: list[bool]) -> None:
    found = read_script(script)
    assert found is not None
    assert [step.is_sure for step in found] == sure


def test_a_very_long_script_is_not_read() -> None:
    assert read_script("rm a; " * 10_000) is None
    assert read_script("cat > a <<EOF\n" + "rm a; \n" * 10_000 + "EOF") is not None


@given(st.text(alphabet="ab \n\t'\"\\$`(){}<>|&;#*[]~=-012EOF", max_size=60))
def test_any_text_is_read_or_not(script: str) -> None:
    found = read_script(script)
    assert found is None or all(line for step in found for line in step.pipelines)
