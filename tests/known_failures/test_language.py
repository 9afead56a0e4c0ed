"""Known failure 34: English only. Not applicable: fillers and corrections of other languages."""

from __future__ import annotations

import pytest

from refold import uncompress
from tests.classic import compress
from tests.known_failures.test_summaries import DULL, fold_one

CHINESE = (
    "港口办公室每天早上九点开门。邮件由值班人员在渡轮到达之前分拣。"
    "数据库迁移必须在三月十四日凌晨两点之前完成。天气一直很好，大家都在院子里休息。"
    "走廊里的植物由前台的同事浇水。咖啡机的声音像一列小火车。"
)
JAPANESE = (
    "会議は木曜日の午後三時に変更されました。資料は前日までに共有してください。"
    "倉庫の鍵は二番目の引き出しにあります。天気が良いので庭で昼食をとりました。"
    "廊下の植物には毎朝水をやります。コーヒーメーカーの音は小さな列車のようです。"
)
HINDI = (
    "कार्यालय सुबह नौ बजे खुलता है। सर्वर की मरम्मत सोमवार की रात को होगी। "
    "सभी लोग आँगन में बैठकर चाय पीते हैं। चाबियाँ दूसरी दराज में रखी हैं। "
)
ARABIC = (
    "يفتح المكتب في التاسعة صباحا. هل تم نقل الخادم إلى المبنى الجديد؟ "
    "المفاتيح في الدرج الثاني من المكتب. الطقس جميل والجميع في الحديقة. "
)
BURMESE = (
    "ရုံးကို နံနက်ကိုးနာရီတွင် ဖွင့်သည်။ သော့များသည် ဒုတိယအံဆွဲထဲတွင် ရှိသည်။ "
    "အားလုံး ခြံထဲတွင် လက်ဖက်ရည် သောက်ကြသည်။ ဆာဗာကို တနင်္လာနေ့ညတွင် ပြင်မည်။ "
)
KHMER = (
    "ការិយាល័យបើកនៅម៉ោងប្រាំបួនព្រឹក។ កូនសោស្ថិតនៅក្នុងថតទីពីរ។ "
    "មនុស្សគ្រប់គ្នាអង្គុយផឹកតែនៅក្នុងសួន។ ម៉ាស៊ីនមេនឹងត្រូវជួសជុលនៅយប់ថ្ងៃច័ន្ទ។ "
)
THAI = "สำนักงานเปิดเวลาเก้าโมงเช้า ระบบจะปิดปรับปรุงในคืนวันจันทร์ กุญแจอยู่ในลิ้นชักที่สอง "
ENDS = {
    "chinese": "。",
    "japanese": "。",
    "hindi": "।",
    "arabic": ".؟",
    "burmese": "။",
    "khmer": "។",
}
TEXTS = {
    **{"chinese": CHINESE, "japanese": JAPANESE, "hindi": HINDI, "arabic": ARABIC},
    **{"burmese": BURMESE, "khmer": KHMER},
}


def numbered(text: str, times: int) -> str:
    return "".join(f"{text}{n}: " for n in range(times))


@pytest.mark.parametrize("language", TEXTS)
def test_kf_34_sentences_end_in_every_script(language: str) -> None:
    text = numbered(TEXTS[language], 5)
    body = fold_one(text).removeprefix("[summary: ").partition(" | entities: ")[0].rstrip("]")
    pieces = body.split(" ... ")
    assert len(pieces) > 1, "more than one sentence was chosen"
    for piece in pieces:
        assert piece in text
        assert piece[-1] in ENDS[language] or text.rstrip().endswith(piece)
    assert not text.startswith(body), "not just the beginning"


def test_kf_34_thai_is_cut_between_phrases() -> None:
    dull = "".join(f"{THAI}คนที่ {n} ดื่มกาแฟในสวน " for n in range(12))
    said = "ห้ามย้ายฐานข้อมูลก่อนวันที่ 10 พฤษภาคม เวลา 9 โมง"
    text = f"{dull}{said} {dull}"
    body = fold_one(text).removeprefix("[summary: ").partition(" | entities: ")[0].rstrip("]")
    pieces = body.split(" ... ")
    assert len(pieces) > 3
    for piece in pieces:
        assert f" {piece} " in f" {text} "
    assert not text.startswith(body), "not just the beginning"


def test_kf_34_an_important_chinese_sentence_is_kept() -> None:
    said = "数据库迁移必须在2024年3月14日凌晨2点之前完成。"
    dull = CHINESE.replace("数据库迁移必须在三月十四日凌晨两点之前完成。", "")
    assert said in fold_one(f"{dull * 4}{said}{dull * 4}")


@pytest.mark.parametrize(
    "name", ["Ångström", "Kraków", "Größe", "São Paulo", "Łódź", "Владимир", "Αθήνα", "İzmir"]
)
def test_kf_34_names_with_accents_are_whole(name: str) -> None:
    shown = fold_one(f"We met {name} in June. {DULL}{DULL}{DULL}")
    names = shown.partition(" | entities: ")[2].rstrip("]").split(", ")
    assert name in shown
    assert not [piece for piece in names if piece and piece != name and piece in name]


FAMILY = "👩‍👩‍👧‍👦"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
MARKED = ("👍🏽", FAMILY, "🇨🇿", "e\u0301", "❤️", ENGLAND)


@pytest.mark.parametrize("cluster", MARKED, ids=range(len(MARKED)))
@pytest.mark.parametrize("shift", [0, 1, 2, 3, 5])
def test_kf_34_emoji_are_not_cut(cluster: str, shift: int) -> None:
    text = "a" * shift + cluster * 400
    messages = [{"id": "m", "role": "user", "content": text}]
    result = compress(messages, recency_window=0)
    shown = result.messages[0]["content"]
    assert shown != text
    shown.encode("utf-8")
    body = shown.removeprefix("[summary: ").partition(" | entities: ")[0].rstrip("]")
    body = body.removesuffix("...").removeprefix("a" * shift)
    assert body == cluster * (len(body) // len(cluster))
    assert uncompress(result.messages, result.verbatim).messages == messages
