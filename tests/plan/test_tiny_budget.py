"""Where a sentence is all that can be shown, the best stretch of words fills the room."""

from __future__ import annotations

import pytest

from refold import compress, uncompress
from tests.conversations import Conversation

TALKS = {
    "English": (
        "We need a table for two in the old harbour, please, with a view of the boats.",
        "The Anchor on Quay Street has one at seven, and the Blue Gull one at half past eight.",
        "Half past eight is too late for us, and we had the soup at the Anchor last week already.",
        "Then I would try the Lantern behind the fish market, which opens at six on Fridays.",
    ),
    "Chinese": (
        "我们两个人想在老港口附近找一家餐馆，最好能看到海，人均消费不要超过150元。",
        "码头街的锚餐厅七点有位子，蓝海鸥餐厅八点半有位子，评分都在4.5分以上。",
        "八点半太晚了，而且锚餐厅我们上个星期刚刚去过，还有没有别的地方可以推荐？",
        "那您可以试试鱼市后面的灯笼餐厅，周五六点开门，人均消费大概是120元左右。",
    ),
    "Japanese": (
        "旧港の近くで海が見えるレストランを二名で予約したいのですが、空いていますか。",
        "埠頭通りのアンカーは七時から、ブルーガルは八時半からご案内できます。",
        "八時半では遅すぎますし、アンカーには先週行ったばかりなので、ほかにありますか。",
        "それでは魚市場の裏にあるランタンはいかがでしょうか。金曜日は六時に開店します。",
    ),
}


def talk(language: str) -> Conversation:
    roles = ("user", "assistant") * 2
    return [
        {"role": role, "content": text} for role, text in zip(roles, TALKS[language], strict=True)
    ]


@pytest.mark.parametrize("language", TALKS)
@pytest.mark.parametrize("budget", range(16, 44, 3))
def test_a_small_budget_is_kept_and_all_comes_back(language: str, budget: int) -> None:
    messages = talk(language)
    name = "lunch"  # without a name, an anchor alone takes more than 16 tokens
    result = compress(
        messages, profile="standard", token_budget=budget, model="gpt-4o", conversation=name
    )
    assert result.fits
    assert result.tokens_after <= budget
    assert uncompress(result.messages, result.verbatim, conversation=name).messages == messages


@pytest.mark.parametrize("language", TALKS)
@pytest.mark.parametrize("budget", [24, 30])
def test_a_small_room_is_filled_with_words_as_they_were_said(language: str, budget: int) -> None:
    messages = talk(language)
    result = compress(messages, profile="standard", token_budget=budget, model="gpt-4o")
    assert 2 * budget <= 3 * result.tokens_after
    shown = result.messages[-1]["content"].partition("\n")[2].removeprefix("user:").strip()
    assert any(shown.rstrip("…").rstrip() in message["content"] for message in messages)


@pytest.mark.parametrize("language", TALKS)
def test_the_newest_words_come_before_others_like_them(language: str) -> None:
    messages = talk(language)
    result = compress(messages, profile="standard", token_budget=26, model="gpt-4o")
    shown = result.messages[-1]["content"].partition("\n")[2]
    assert shown.rstrip("…").rstrip() in messages[-1]["content"]
