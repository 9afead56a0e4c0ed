"""Where a sentence ends, in many languages, and where it does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.classic.sentences import read
from refold.classic.texts import View
from tests.classic import split_sentences
from tests.conversations import texts

CASES: dict[str, list[str]] = {
    "plain": ["It rained all day.", "We stayed in.", "Nobody came."],
    "marks": ["Who was it?", "Nobody!", "Really?!", "Well…", "Yes..."],
    "decimals": ["The limit is 3.5 for acme.", "It was 12.75 before."],
    "versions": ["Use v2.1.3 or 10.0.", "Then restart."],
    "file names": ["Open config.prod.json and set it.", "Then run a.sh in /etc/x.d now."],
    "domains": ["See docs.example.com/a.html for more.", "Ask Maria."],
    "grep lines in prose": ["The bug is in file.ts:42: there.", "Fix it."],
    "e.g.": ["Take a fruit, e.g. an apple, home.", "Eat it."],
    "i.e.": ["The first, i.e. the red one, won.", "It was close."],
    "titles": ["Dr. Smith met Mr. Jones and Mrs. Brown.", "They agreed."],
    "initials": ["The book by J. R. Hartley is out.", "Buy it."],
    "figures": ["See Fig. 3 and Eq. 4 for the proof.", "It is short."],
    "No. 5": ["Bus No. 5 was late.", "We walked."],
    "quotes": ['She said "stop."', "He did.", "“Why?”", "Because."],
    "brackets": ["It failed (again.)", "We tried later."],
    "emphasis": ["**Do not deploy.**", "Wait for Ana."],
    "no full stop at the end": ["It is done.", "The deadline is 14 March and the owner is Maria"],
    "answers": ["No.", "Yes.", "Do it."],
    "letters": ["We chose plan b.", "Then we left."],
    "a day and a year": ["It began in 2010.", "August was hot."],
    "German": ["Das gilt z. B. für Nr. 5 bzw. z.B. Nr. 6, d. h. für alle.", "Gut."],
    "German dates": ["Am 10. Mai 2026 war es kalt.", "Es waren 3.", "Das reicht."],
    "French": ["M. Dupont en parle, p. ex. ici.", "Voilà."],
    "Spanish": ["El Sr. Gómez llega, p. ej. hoy.", "Ya."],
}


@pytest.mark.parametrize("name", CASES)
def test_a_full_stop_ends_a_sentence_or_not(name: str) -> None:
    assert split_sentences(" ".join(CASES[name])) == CASES[name]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("数据库在三月迁移。所有服务必须停止写入！你同意吗？好。", 4),
        ("会議は木曜日です。資料は「前日まで」に共有してください。以上。", 3),
        ("सर्वर की मरम्मत सोमवार को होगी। सभी को सूचित करें। धन्यवाद॥", 3),
        ("سيتم نقل الخادم يوم الأحد. هل يمكنك إبلاغ الفريق؟ لا تحذف النسخة القديمة.", 3),
        ("Сервер будет перенесён. Вы согласны? Да!", 3),
        ("နံနက်ကိုးနာရီတွင် ရုံးဖွင့်သည်။ သော့ကို မယူပါနှင့်။", 2),
        ("ការិយាល័យបើកម៉ោងប្រាំបួន។ កុំយកកូនសោ។ អរគុណ៕", 3),
        ("ལས་ཁུངས་སྒོ་ཕྱེ། ལྡེ་མིག་མ་འཁྱེར།", 2),
        ("ቢሮው ዘጠኝ ሰዓት ይከፈታል። ቁልፉ የት ነው፧", 2),
        ("สำนักงานเปิดเก้าโมงเช้า กุญแจอยู่ในลิ้นชัก อย่าหยิบไป", 3),
        ("ຫ້ອງການເປີດເກົ້າໂມງເຊົ້າ ຢ່າເອົາກະແຈໄປ", 2),
        ("งานต่าง ๆ เริ่มวันที่ 10 พฤษภาคม เวลา 9 โมง", 3),
        ("Die Größe ist 3,5 GB. Das reicht nicht. Wer bestellt mehr?", 3),
        ("Le déploiement prend 45 minutes. Ne touchez pas au cache !", 2),
    ],
)
def test_other_languages(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


def test_a_closing_bracket_belongs_to_its_sentence() -> None:
    assert split_sentences("他说：“不行。”然后走了。") == ["他说：“不行。”", "然后走了。"]


def test_list_items_and_headings_are_sentences() -> None:
    text = "# Plan\n- water the plants\n- call Ana\n* sweep\n1. lock up\n2) go home\n> quoted"
    assert split_sentences(text) == text.split("\n")


def test_a_list_label_is_not_a_sentence() -> None:
    assert split_sentences("1. Lock the door. 2. Go home.")[0] != "1."
    assert "1." not in split_sentences("1. Lock the door.\n2. Go home.")


def test_wrapped_lines_are_one_sentence() -> None:
    text = (
        "The harbour office opens at nine and the clerk sorts the letters before the\n"
        "ferry comes in. Nobody knows why it was moved to the other side of the narrow\n"
        "River last year."
    )
    end = text.index("Nobody")
    assert split_sentences(text) == [text[: end - 1], text[end:]]


def test_short_lines_are_not_joined() -> None:
    assert split_sentences("Name: Ana\nPlace: Porto\nDate: 3 May") == [
        "Name: Ana",
        "Place: Porto",
        "Date: 3 May",
    ]


def test_paragraphs_are_numbered() -> None:
    sentences = read(View("One. Two.\n\nThree.\n \t\n\nFour."))
    assert sentences.paragraphs == [0, 0, 1, 2]


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\t \r\n"])
def test_blank_texts_have_none(text: str) -> None:
    assert split_sentences(text) == []


PIECES = st.sampled_from(
    (
        *"aA19_-.:,)(\"'*!?#>| \t\n\r",
        *("é", "É", "漢", "か", "한", "🙂", "—", "’", "”", "…", "\xa0", "\u2028", "\x1c", "\x85"),
        *(
            "。",
            "！",
            "。」",
            "」",
            "।",
            "॥",
            "؟",
            "։",
            "።",
            "｡",
            "﹒",
            "︒",
            *"။។།ก ກ กา ๆ",
            "\ud800",
            "\n\n",
            " \n",
        ),
        *(". ", "! ", '?" ', "e.g. ", "i.e.", "Dr. ", "No. 5", "No.", "1. ", "(2) ", "a) ", "J. "),
        *("z. B. ", "d. h. ", "p. ex. ", "3. Mai ", " 10.\xa0Juli", "ca. ", "z.", "x."),
        *("- ", "• ", "\n12. ", "\n- ", "\nlower ", "\nUpper ", "word " * 13, "Word " * 13),
    )
)


@settings(max_examples=100)
@given(st.one_of(texts(), st.text(max_size=40), st.lists(PIECES, max_size=20).map("".join)))
def test_nothing_but_white_space_lies_outside(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence and sentence == sentence.strip() for sentence in sentences)
