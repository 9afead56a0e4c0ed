"""Which files a script reads and writes: only what can be told for certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.files.shell import argv_effects, read_effects


def written(script: str) -> list[str]:
    effects = read_effects(script)
    return [touch.path for touch in effects.touched if touch.is_write] if effects else []


def shown(script: str) -> list[str]:
    """Return the files that a script shows, if it shows nothing else."""
    effects = read_effects(script)
    if effects is None or not effects.shows_files:
        return []
    return [touch.path for touch in effects.touched if not touch.is_write]


@pytest.mark.parametrize(
    ("script", "files"),
    [
        ("echo x > a.py", ["a.py"]),
        ("echo x >> a.py", ["a.py"]),
        ("cat > a.py <<'EOF'\nx > b.py\nEOF", ["a.py"]),
        ("cat <<'EOF' > a.py\nsed -i x b.py\nEOF", ["a.py"]),
        ("make > build.log 2>&1", ["build.log"]),
        ("make &> build.log", ["build.log"]),
        ("make 2> errors.log", ["errors.log"]),
        ("python make.py > 'out put.txt'", ["out put.txt"]),
        ("> a.py", ["a.py"]),
        ("echo x | tee a.py", ["a.py"]),
        ("echo x | tee -a a.py b.py > /dev/null", ["a.py", "b.py"]),
        ("cat a | tee b", ["b"]),
        ("sed -i 's/a/b/' a.py b.py", ["a.py", "b.py"]),
        ("sed -i.bak -e 's/a/b/' a.py", ["a.py"]),
        ("sed -i '' 's/a/b/' a.py", ["a.py"]),
        ("sed -E -i '1d' a.py", ["a.py"]),
        ("sed -ni '1p' a.py", ["a.py"]),
        ("sed --in-place=.bak 's/a/b/' a.py", ["a.py"]),
        ("sed -i -f fix.sed a.py", ["a.py"]),
        ('sed -i "s/$x/b/" a.py', ["a.py"]),
        ("perl -pi -e 's/a/b/' a.py", ["a.py"]),
        ("perl -i -pe 's/a/b/' a.py", ["a.py"]),
        ("perl -0777 -i.orig -pe 's/a/b/' a.py", ["a.py"]),
        ("mv a.py b.py", ["a.py", "b.py", "b.py/a.py"]),
        ("mv a.py b.py lib/", ["a.py", "b.py", "lib/a.py", "lib/b.py"]),
        ("cp -f a.py b.py", ["b.py", "b.py/a.py"]),
        ("rm -f a.py b.py", ["a.py", "b.py"]),
        ("unlink a.py", ["a.py"]),
        ("git checkout -- a.py", ["a.py"]),
        ("git checkout HEAD~1 a.py", ["HEAD~1", "a.py"]),
        ("git restore a.py", ["a.py"]),
        ("git restore --staged --worktree a.py", ["a.py"]),
        ("git restore -s HEAD a.py", ["a.py"]),
        ("git rm a.py", ["a.py"]),
        ("git mv a.py b.py", ["a.py", "b.py", "b.py/a.py"]),
        ("git apply <<'EOF'\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\nEOF", ["x.py"]),
        ("patch -p1 <<'EOF'\n--- a/x.py\t2024\n+++ b/x.py\t2024\nEOF", ["x.py"]),
        ("patch a.py < fix.diff", ["a.py"]),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\nEOF", ["a.py"]),
        ("truncate -s 0 a.log", ["a.log"]),
        ("dd if=x of=a.img bs=1", ["a.img"]),
        ("sudo rm a.py", ["a.py"]),
        ("LC_ALL=C /usr/bin/sed -i s/a/b/ a.py", ["a.py"]),
        ("rm $x a.py", ["a.py"]),
        ("cd src && sed -i s/a/b/ a.py", ["src/a.py"]),
        (
            "cd /repo; cd src; rm a.py ../b.py /c.py",
            ["/repo/src/a.py", "/repo/src/../b.py", "/c.py"],
        ),
        ("cd ~/repo && rm a.py", ["~/repo/a.py"]),
        ("cd $x && rm a.py /b.py ~/c.py", ["/b.py", "~/c.py"]),
        ("cd - && rm a.py", []),
        ("source env.sh; rm a.py", []),
    ],
)
def test_writes(script: str, files: list[str]) -> None:
    assert written(script) == files


@pytest.mark.parametrize(
    "script",
    [
        'echo "sed -i s/a/b/ a.py"',
        "echo 'x > a.py'",
        "echo x \\> a.py",
        "make > /dev/null",
        "make 2>&1",
        "make 2>/dev/null >&2",
        "make >&-",
        "sed -n '1,5p' a.py",
        "sed 's/a/b/' a.py",
        "grep -r 'sed -i' .",
        "grep '>' a.py",
        "ls # > a.py",
        "touch a.py",
        "python - <<'EOF'\nopen('a.py', 'w')\nEOF",
        "python -c \"open('a.py', 'w')\"",
        "perl -ne 'print' a.py",
        "perl -pe 's/a/b/' a.py",
        "git checkout -b fix",
        "git checkout -p a.py",
        "git restore --staged a.py",
        "git rm --cached a.py",
        "git apply --check <<'EOF'\n--- a/x.py\n+++ b/x.py\nEOF",
        "git apply fix.diff",
        "git diff > /dev/null",
        "patch -p1 < fix.diff",
        "patch --dry-run a.py < fix.diff",
        "cp -n a.py b.py",
        "mv -n a.py b.py",
        "cp a.py $target",
        "rm *.py",
        "rm -i a.py",
        "echo x > $file",
        "test -f a.py || echo x > a.py",
        "make || rm a.py",
        "sed -i s/a/b/ a.py &",
        "for f in a.py; do sed -i s/a/b/ $f; done",
        "(sed -i s/a/b/ a.py)",
        "ssh host 'rm a.py'",
        "xargs rm < list",
        "rm",
        "mv a.py",
        "patch -p99999999999 <<'EOF'\n--- a/x.py\n+++ b/x.py\nEOF",
    ],
)
def test_what_is_no_certain_write(script: str) -> None:
    assert written(script) == []


@pytest.mark.parametrize(
    ("script", "files"),
    [
        ("cat a.py", ["a.py"]),
        ("cat a.py b.py", ["a.py", "b.py"]),
        ("cat -n -- a.py", ["a.py"]),
        ("cat < a.py", ["a.py"]),
        ("cat a.py 2>/dev/null", ["a.py"]),
        ("sed -n '1,80p' a.py", ["a.py"]),
        ("sed -n '/def f/,/^def/p' a.py", ["a.py"]),
        ("head -50 a.py", ["a.py"]),
        ("head -n 50 a.py", ["a.py"]),
        ("tail -n +10 a.py", ["a.py"]),
        ("nl -b a a.py", ["a.py"]),
        ("nl -ba a.py | sed -n '10,20p'", ["a.py"]),
        ("bat -r 1:5 --style plain a.py", ["a.py"]),
        ("cat a.py | grep -n def | head", ["a.py"]),
        ("cat a.py | tee b.py", ["a.py"]),
        ("cd src && cat a.py", ["src/a.py"]),
        ("echo '--- a'; cat a.py; echo done", ["a.py"]),
        ("mkdir -p x && cat a.py", ["a.py"]),
        ("sed -i s/a/b/ a.py && sed -n '1,9p' a.py", ["a.py"]),
        ("cat 'app/[id]/route.ts'", ["app/[id]/route.ts"]),
    ],
)
def test_reads(script: str, files: list[str]) -> None:
    assert shown(script) == files


@pytest.mark.parametrize(
    "script",
    [
        "cat a.py > b.py",
        "cat a.py | python",
        "cat a.py | wc -l",
        "cat a.py && make",
        "ls; cat a.py",
        "cat *.py",
        "cat $file",
        "cat a.py || cat b.py",
        "cat <<'EOF'\na.py\nEOF",
        "echo cat a.py",
        "sed -n 's/a/b/p' a.py",
        "sed 's/a/b/' a.py",
        "sed -i 5p a.py",
        "grep def a.py",
        "cd $dir; cat a.py",
        "head",
    ],
)
def test_what_shows_something_else_is_no_read(script: str) -> None:
    assert shown(script) == []


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("rm a", [(True, False)]),
        ("make && rm a && rm b", [(True, False)] * 2),
        ("rm a; make", [(False, False)]),
        ("rm a | cat", [(False, False)]),
        ("grep -q x a && rm a", [(True, True)]),
        ("test -f a && rm a; make", [(False, True)]),
    ],
)
def test_what_an_exit_status_says_of_a_write(
    script: str, expected: list[tuple[bool, bool]]
) -> None:
    effects = read_effects(script)
    assert effects is not None
    assert [(touch.is_told, touch.is_asked) for touch in effects.touched] == expected


@pytest.mark.parametrize(
    ("script", "directory"),
    [
        ("rm a", ""),
        ("cd src", "src"),
        ("cd src && cd ../lib", "src/../lib"),
        ("cd /repo; ls", "/repo"),
        ("cd", None),
        ("cd $x", None),
        ("cd x || exit", None),
        ("pushd x", None),
        ("cd x | cat", ""),
    ],
)
def test_where_the_shell_is_afterwards(script: str, directory: str | None) -> None:
    effects = read_effects(script)
    assert effects is not None
    assert effects.directory == directory


def test_a_program_without_a_shell_gets_its_words_as_they_are() -> None:
    assert [touch.path for touch in argv_effects(["cat", "a > b.py"]).touched] == ["a > b.py"]
    assert [touch.path for touch in argv_effects(["rm", "*.py"]).touched] == ["*.py"]


def test_very_many_or_very_long_paths_are_not_noted() -> None:
    assert len(written("rm " + "a " * 1_000)) <= 200
    assert written(f"rm {'a' * 100_000} b") == ["b"]
    assert written(f"cd {'a' * 100_000} && rm b") == []


_WORDS = st.sampled_from(
    "cat sed -i -n perl -pi -e tee mv cp rm git checkout restore apply patch -p1 dd of=a truncate "
    "cd a.py b.py src /x ~ - -- > >> < 2>&1 | && || ; & ' \" $x * <<EOF \n EOF".split(" ")
)


@given(st.lists(_WORDS, max_size=14))
def test_any_script_is_read_or_not(words: list[str]) -> None:
    effects = read_effects(" ".join(words))
    assert effects is None or all(touch.path for touch in effects.touched)
