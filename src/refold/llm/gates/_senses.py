"""Words by which a statement turns into its opposite: one table for all languages."""

from __future__ import annotations

import re
from typing import Final

_ROWS: Final = {
    # Of these rows the second side is a no: who refuses does not accept, what fails does not work.
    "consent": (
        "accept* approv* agree* grant* adopt* endors* welcom* confirm* favour* favor* sign*_off "
        "signed_off annehm* angenomm* genehm* zustimm* zugestimmt einverstanden befürwort* "
        "approuv* accord* favorable* acept* aprob* aprueb* conced* a_favor en_faveur dafür liked "
        "likes recommend* support* 同意 批准 接受 赞成 承認 賛成 受け入れ",
        "reject* refus* declin* deny denied denies dismiss* turn*_down oppos* against veto* "
        "object* disagree* vot*_down voted_no ablehn* abgelehnt abzulehnen verweiger* verworfen "
        "gegen rejet* contre отказ* rechaz* deneg* descart* en_contra not_in_favour dagegen "
        "拒绝 否决 反对 却下 否決 拒否 反対 見送",
    ),
    "permission": (
        "allow* permit* authori* possible erlaub* gestatt* möglich zulässig autoris* permi* "
        "possibles autoriz* posible* 可以 允许 許可 可能",
        "forb* prohib* ban banned bans disallow* off-limits impossib* unable unsupported "
        "out_of_the_question avoid* vermeid* évit* evit* vieta* proib* verbied* vermijd* запре* "
        "избега* невозмож* verbiet* verbot* untersag* unmöglich unzulässig interdi* imposib* 禁止 "
        "不可 勿 だめ 避免 避け 회피 불가",
    ),
    "success": (
        "succe* pass passed passes passing work works worked working fine ok okay green healthy "
        "erfolg* geling* gelung* gelang* sale_bien salió_bien klapp* funktionier* in_ordnung "
        "réuss* fonctionn* funcion* exitos* con_normalidad 成功 合格 通过 正常",
        "fail* crash* broke broken defect* unhealthy mismatch* malfunction* fehlg* fehlschl* "
        "scheiter* gescheitert kaputt defekt sale_mal salió_mal échou* échec* panne fall* fracas* "
        "失败 失敗 故障",
    ),
    "presence": (
        "includ* contain* cover* provid* available enthalten einschließlich inbegriffen inclus* "
        "compris* fourni* inclu* compren* 包括 包含 含まれ",
        "exclud* lack* missing absent except excepting apart_from without remov* delet* dropped "
        "skip* omit* gone left_out off_the leaves_out fehl* außer ausgenommen ausgeschlossen ohne "
        "lösch* gelöscht entfern* entfäll* exclu* manqu* sauf hors sans supprim* falt* salvo "
        "excepto sin fuera borr* elimin* 除外 除了 删除 対象外 除く 除い 以外 なし 削除 欠席",
    ),
    "course": (
        "continu* resum* remain* stay stays stayed keep keeps kept open* start* begin* began "
        "enabl* live renew* bleib* weiter* läuft öffn* geöffnet beginn* aktiv* maint* reste* "
        "continú* ouvr* ouvert* reprend* allum* sigue* mantien* manten* abre* abiert* prorrog* "
        "renov* 继续 保留 开放 开始 続け 残し 再開",
        "stop* halt* paus* suspend* on_hold close* closing cancel* terminat* expir* disabl* "
        "deactiv* switched_off turned_off is_off are_off was_off were_off stays_off off_since  "
        "called_off abandon* withdr* ran_out run_out stopp* "
        "beend* schließ* geschlossen abgesagt abgelaufen ausgeschalt* gestrichen deaktiv* arrêt* "
        "ferm* annul* éteint* désactiv* deten* cierr* cerr* caduc* suspendid* desactiv* "
        "停止 关闭 取消 中止 终止",
    ),
    # Of these neither side is a no.
    "height": (
        "rais* rise* rose risen increas* grow* grew gain* more higher larger bigger longer "
        "greater above over exceed* extend* lengthen* improv* better heavier older steig* stieg* "
        "gestiegen erhöh* mehr höher größer länger über teurer augment* plus allong* supérieur* "
        "meilleur* subi* sube* aument* crec* más mayor* alarg* ampli* mejor* super* "
        "上升 增 多了 更多 升 高 延长 上回 上が 増",
        "lower* fell fallen drop drops decreas* reduc* sank shr* less fewer smaller shorter below "
        "under down shorten* lost lose* worse lighter younger sink* gesunken gefallen fällt senk* "
        "gesenkt weniger niedriger kleiner kürzer unter billiger günstiger baiss* dimin* rédui* "
        "moins tomb* inférieur* raccourc* pire baj* disminu* cay* cae* menos menor* acort* peor* "
        "下降 减 少了 更少 降 低 缩短 下回 下が 減",
    ),
    "time": (
        "before beforehand prior early earlier ahead vor bevor vorher davor früher frühestens "
        "avant tôt antes temprano 之前 以前 前 提前 早くとも 早くても 最早",
        "after afterwards later late behind delay* nach nachdem danach später spät* spätestens "
        "après tard retard* después tras tarde 之后 以后 后 推迟 延期 以降 後に 遅くとも 最晚 最迟",
    ),
    "duty": (
        "must mandator* compuls* obligat* requir* have_to has_to muss müssen pflicht* "
        "erforderlich doit doivent il_faut debe* hay_que 必须 必要 必ず",
        "optional* voluntar* facultati* freiwillig* optionn* volontaire* opcional* 自愿 可选 任意",
    ),
    "price": (
        "free gratis complimentary kostenlos* kostenfrei umsonst gratuit* 免费 無料",
        "charged fee fees kostenpflichtig* payant* de_pago 收费 有料",
    ),
    "side": (
        "left inside indoors internal* links innen drinnen gauche intérieur* interne* izquierd* "
        "dentro 左 内",
        "right outside outdoors external* rechts außen draußen droite extérieur* externe* derech* "
        "右 外",
    ),
    "age": (
        "old legacy alt alte alten alter altes ancien* vieux vieille viej* antigu* 旧 老",
        "new neu neue neuen neuer neues nouveau nouvelle* nuev* 新",
    ),
    "way": (
        "automat* permanent* dauerhaft public* online encrypted upload* import buy* lend* strong* "
        "fast* easy öffentlich kauf* leicht* schnell* achet* facile* rapide* automát* compr* "
        "fácil* rápid* 自动 永久 公开 买 快 容易 好",
        "manual* temporar* vorübergehend private* offline unencrypted plain download* export "
        "sell* sold borrow* weak* slow* hard difficult* manuell privat verkauf* schwer* langsam* "
        "vend* difficile* lent* difícil* 手动 暂时 临时 卖 慢 困难 差",
    ),
    "amount": (
        "all every everyone everybody everything everywhere any anyone anybody always whole full "
        "fully complete* entire* jed* alle* immer ganz voll* tout* tous chaque toujours todo* "
        "toda* cualquier* siempre 所有 全部 任何 都 一律 全員 すべて 誰でも",
        "some several many most half part partly few sometimes other others einige manche viele "
        "halb teilweise andere* quelques plusieurs moitié certains autres alguno* varios mitad "
        "otros 一些 部分 一半 其他 一部 半分 他の",
    ),
}
DENYING: Final = ("consent", "permission", "success", "presence", "course")
"""Opposites of which the second side is a no."""
_LETTER: Final = r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]"
_ASIAN: Final = "\u3000"


def _pattern(words: str) -> str:
    """Return a pattern for some words: `*` stands for any ending, `_` for a blank."""
    latin = "|".join(
        re.escape(word).replace(r"\*", rf"{_LETTER}*+").replace("_", " ")
        for word in words.split()
        if word < _ASIAN
    )
    asian = "|".join(word for word in words.split() if word >= _ASIAN)
    return rf"(?<!{_LETTER})(?:{latin})(?!{_LETTER})" + (f"|{asian}" if asian else "")


SIDES: Final = {
    name: tuple(re.compile(_pattern(words)) for words in sides) for name, sides in _ROWS.items()
}
"""The opposites, by name; the words of each side."""
_NOT_YET_WORDS: Final = (
    "pending outstanding undecided pendiente pendientes ausstehend steht_aus stehen_aus "
    "noch_offen en_attente still_has_to still_have_to still_needs_to yet_to noch_zu remains_to "
    "reste_à restent_à queda_por inutile まだ 待ち"
)
_UN: Final = (
    r"(?<!\w)un(?!ter|til|der|it|ion|iver|iqu|less|as|os)(?=[a-zäöü]{4})[a-zäöü]++"
    r"|(?<!\w)non-(?=\w)"
)
"""What is undecided or unsigned is not decided or signed."""
DENIAL: Final = re.compile("|".join((*(_pattern(_ROWS[name][1]) for name in DENYING), _UN)))
"""Words that say no of what stands beside them."""
NOT_YET: Final = re.compile(_pattern(_NOT_YET_WORDS))
"""Words that say no if nothing else does: the contract is still pending."""


def senses_of(lower: str, *, is_turned: bool) -> dict[str, set[int]]:
    """Return on which sides of which opposites a text in small letters is.

    Where it *is_turned*, who does not accept refuses; but not above is not below.
    """
    found: dict[str, set[int]] = {}
    for name, sides in SIDES.items():
        on = {n ^ (is_turned and name in DENYING) for n in (0, 1) if sides[n].search(lower)}
        if on:
            found[name] = on
    return found
