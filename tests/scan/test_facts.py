"""The facts found in a text are the ones a reader would name, and all from the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.facts import find_errors, find_no, find_quotes, find_values

UUID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("It cost $1,200.50, 300元 or €5.", ["$1,200.50", "300元", "€5"]),
        ("It took 12 ms, 5GB and 3,5 kg (7 %).", ["12 ms", "5GB", "3,5 kg", "7 %"]),
        ("It is -5 °C, from 3-5 ms.", ["-5 °C", "3", "5 ms"]),
        (f"See {UUID}, 9f8e7d6a.", [UUID, "9f8e7d6a"]),
        ("ABC-123 and #1234 and pay_300x9.", ["ABC-123", "#1234", "pay_300x9"]),
        ("(https://a.io/b_(c)?x=1), then.", ["https://a.io/b_(c)?x=1"]),
        ("请看https://a.io/x。", ["https://a.io/x"]),
        ("Write to ana+x@mail.example.org.", ["ana+x@mail.example.org"]),
        (
            "src/refold/model.py:42 and /etc/app.conf.",
            ["src/refold/model.py", "42", "/etc/app.conf"],
        ),
        (r"C:\Users\x\a.txt, ./run.sh or ~/x", [r"C:\Users\x\a.txt", "./run.sh", "~/x"]),
        ("Open config.prod.json and/or TCP/IP, e.g. this.", ["config.prod.json"]),
        (
            "v1.2.3-rc1 and 1.2.3rc1 on 10.0.0.1:8080",
            ["v1.2.3-rc1", "1.2.3rc1", "10.0.0.1", "8080"],
        ),
        ("On 14 March 2031 at 10:31:05.", ["14 March 2031", "10:31:05"]),
        ("2031-03-14T10:31:05Z, March 14, 2031", ["2031-03-14T10:31:05Z", "March 14, 2031"]),
        ("会议在3月14日，2031年3月", ["3月14日", "2031年3月"]),
        ("am 14. März 2031, le 3 mai", ["14. März 2031", "3 mai"]),
        ("1. one\n2. two", []),
        ("1. one\n7. two 9", ["7", "9"]),
        ("fe80::1:2:3", ["fe80::1:2:3"]),
        ("No facts here. Only words, really.", []),
        ("السعر ١٢٠٠ دينار", ["١٢٠٠"]),
    ],
)
def test_values(text: str, values: list[str]) -> None:
    assert list(dict.fromkeys(value for _, value in find_values(text))) == values


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ('say "yes" and “no” and „doch“', ['"yes"', "“no”", "„doch“"]),
        ("run `a b` or 'c d', it's the users' choice", ["`a b`", "'c d'"]),
        ("「はい」と『いいえ』", ["「はい」", "『いいえ』"]),
        ('"" and " "', []),
        ("don't and can't", []),
    ],
)
def test_quotes(text: str, quotes: list[str]) -> None:
    assert list(dict.fromkeys(find_quotes(text))) == quotes


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("ok\nValueError: bad\nok", ["ValueError: bad"]),
        ("done\n  exited with code 3\n", ["exited with code 3"]),
        ("exit code 0", []),
        ("0 errors, no failures", []),
        ("连接失败\n好", ["连接失败"]),
        (f"{'All is well here. ' * 20}The build failed. Then it rained.", ["The build failed."]),
    ],
)
def test_errors(text: str, errors: list[str]) -> None:
    assert list(dict.fromkeys(find_errors(text))) == errors


@pytest.mark.parametrize(
    "line",
    [
        "Fehler: Zugriff verweigert",
        "Échec de la connexion",
        "La conexión falló",
        "Erro: acesso negado",
        "Errore: accesso negato",
        "Błąd: odmowa dostępu",
        "Hata: erişim reddedildi",
        "Koneksi gagal",
        "Lỗi: từ chối truy cập",
        "Ошибка: отказано в доступе",
        "Σφάλμα: δεν επιτρέπεται",
        "خطأ: تم رفض الوصول",
        "שגיאה: הגישה נדחתה",
        "त्रुटि: पहुँच अस्वीकृत",
        "ข้อผิดพลาด: ปฏิเสธการเข้าถึง",
        "錯誤：存取被拒",
        "エラー：アクセス拒否",
        "오류: 접근 거부",
    ],
)
def test_errors_in_many_languages(line: str) -> None:
    assert list(find_errors(f"1\n{line}\n2")) == [line]


@pytest.mark.parametrize("digits", ["12", "١٢", "۱۲", "१२", "১২", "௧௨", "๑๒", "១២", "၁၂", "１２"])
def test_digits_of_many_scripts(digits: str) -> None:
    assert [value for _, value in find_values(f"x {digits} y")] == [digits]


@pytest.mark.parametrize(
    "clause",
    [
        "Do not restart it.",
        "We can't do that.",
        "It runs without a key.",
        "Das geht nicht.",
        "Es gibt keinen Grund.",
        "Il ne vient pas.",
        "Nunca lo borres.",
        "Não apague isso.",
        "Non toccare.",
        "Не удаляй это.",
        "不要重启服务器。",
        "没有权限。",
        "再起動しないでください。",
        "ここは禁止です。",
        "इसे मत हटाओ।",
        "لا تحذف هذا.",
        "삭제하지 마세요.",
    ],
)
def test_negations(clause: str) -> None:
    assert find_no(clause.lower())


@pytest.mark.parametrize(
    "text",
    ["See No. 5.", "这是特别的。", "未来很好。", "A knot in a note.", "区别很大。", "non-zero"],
)
def test_what_only_looks_like_a_no(text: str) -> None:
    assert not find_no(text.lower())


PIECES = st.sampled_from(
    (
        *(
            "a",
            "1",
            ".",
            ",",
            "-",
            "/",
            "\\",
            "@",
            ":",
            "#",
            "$",
            "€",
            " ",
            "\n",
            '"',
            "“",
            "”",
            "'",
        ),
        *(
            "`",
            "「",
            "」",
            "http://",
            "C:\\",
            "月",
            "日",
            "元",
            "不",
            "not ",
            "Error: ",
            "Aa ",
            "aB",
            "_",
        ),
        *(
            "March ",
            "2031",
            " ms",
            "%",
            "İ",
            "\ud800",
            "１",
            "٣",
            "1. ",
            "\u00a0",
            "e\u0301",
            "x.py",
        ),
    )
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


@given(TEXTS)
def test_every_fact_occurs_in_its_text(text: str) -> None:
    values = [value for _, value in find_values(text)]
    for found in (values, list(find_quotes(text)), list(find_errors(text))):
        assert all(fact and fact in text for fact in found)
