"""Templates of source code, logs, pages and prose, which the weights were not fitted to.

A paragraph sign and a letter is a slot; `estimator_texts` says what belongs into each.
"""

from __future__ import annotations

from typing import Final

WORDS: Final = (
    "info content args params context callback props element model view store action target "
    "filename directory prefix suffix pattern match group string number array object method "
    "attribute property default current previous next first last total max min temp status "
    "url host port query route endpoint payload schema validator permission role policy "
    "database connection cursor transaction migration index backup snapshot replica shard "
    "image pixel color palette shader texture mesh camera viewport animation duration "
    "sensor reading voltage battery firmware device driver bus interrupt register memory "
    "garden orchard weather rainfall bicycle train platform luggage violin chapter novel "
    "recipe flour oven kitchen clinic patient nurse dosage harvest tractor barn"
).split()  # fmt: skip

SENTENCES: Final = (
    "Each §w is checked against the §w that was given, and refused if it is too old.",
    "Raises an exception when the §w cannot be found in the given §w.",
    "You can change this with the §w option, which is off by default.",
    "She carried the §w down to the river and waited for the others.",
    "Note that the order of the results is not guaranteed.",
    "Why do we need this? Because the §w used to be shared between all of them.",
    "Thanks for the report, I'll have a look at the §w tomorrow morning.",
    "The new version is about twice as fast and needs less memory than before.",
)

CODE: Final = {
    "Python": (
        "from __future__ import annotations\n\nimport argparse, json\nimport numpy as np\n"
        "from pathlib import Path\nfrom .§w import §C, §v",
        "@dataclass(frozen=True)\nclass §C:\n    §w: int = §n\n    §v: str = '§w'\n"
        "    §v: tuple[float, ...] = (§f, §f)\n\n    def __repr__(self):\n"
        "        return '%s(%r, %r)' % (self.__class__.__name__, self.§w, self.§v)",
        "    def _§v(self, §w, §w, strict=False):\n        '''§s\n\n        >>> §v(§n)\n"
        "        §n\n        '''\n        assert len(§w) > §i, \"§w must not be empty\"\n"
        "        return sum(x * y for x, y in zip(§w, §w))",
        "        if isinstance(§w, (list, tuple)) and len(§w) == 2:\n"
        "            §w, §v = §w\n        elif hasattr(§w, '§v'):\n"
        "            §w = getattr(§w, '§v')()\n        else:\n"
        "            raise TypeError(\"§w must be a §w, not %s\" % type(§w).__name__)",
        "    # §s\n    # §s\n    lock = threading.Lock()\n    with lock:\n"
        "        self.__§w[§v] = §w\n        self._§w_count += 1\n    del §w",
        "def main():\n    args = get_args()\n    §w = Path(args.§w).resolve()\n"
        "    print('§w:', §w, file=sys.stderr)\n    if args.verbose > 1:\n"
        "        §v(§w, **vars(args))\n    return 0 if §w.exists() else 1",
        "@pytest.mark.parametrize('§w,expected', [(§n, §n), (§n, '§w'), ('§w', None)])\n"
        "def test_§v(§w, expected):\n    assert §v(§w) == expected",
        "    try:\n        from _§w import §v\n    except ImportError:\n        pass\n"
        "    finally:\n        os.unlink(§v)\n    yield from self.§v(§w, 0x§h & 0xff)",
    ),
    "TypeScript": (
        "import React, { useMemo, useRef } from 'react';\nimport { §c } from '@/lib/§w';\n",
        "type §C = '§w' | '§w' | '§k';\n\nexport enum §C {\n  §C = §i,\n  §C = '§w',\n}\n"
        "export type §CProps = Omit<§C, '§c'> & { §c: §C };",
        "export const §c = async (req: Request, res: Response) => {\n"
        "  const { §c, §c } = req.§w;\n  if (§c == null) return res.status(§n).json({ §c: "
        "'§s' });\n  await §w.§c(§c, { limit: §n });\n};",
        "    switch (§w.type) {\n      case '§w':\n        return { ...§w, §c: §w.§c };\n"
        "      default:\n        return §w;\n    }",
        "abstract class §C<T extends §C> {\n    protected static readonly §c: number = §n;\n"
        "    public §c(§w?: string): T | null {\n        return this.§c[§w ?? ''] || null;\n"
        "    }\n}",
        "  const §c = useMemo(() => §w.reduce((sum, x) => sum + x.§c, 0), [§w]);\n"
        "  // §s\n  §w.addEventListener('§w', §c, false);\n  return () => clearTimeout(§c);",
        "let §c: §C[] = [];\nfor (let i = 0; i < §w.length; i++) {\n"
        "    if (!§c(§w[i])) { break; }\n    §c.push(§w[i] as unknown as §C);\n}",
        "declare module '§w' {\n  export function §c(§w: string, cb?: (err: Error | null, §w: "
        "§C) => void): void;\n  export default §C;\n}",
    ),
}  # fmt: skip

LOG_LINES: Final = (
    "§d §t.§z [main] DEBUG com.acme.§w.§C - §w §w: §n",
    "§dT§t+02:00 worker-§i §W §w §w (§f s)",
    '{"time":"§dT§tZ","level":"WARN","msg":"§w §w","§v":§n}',
    "§t.§z [ERROR] §C: §s",
    "I0314 §t.§z000 §n §w.cc:§n] §w §w §w = §f",
    "§d §t status installed lib§w-§w:amd64 §i.§i.§n-1ubuntu§i",
    "src/§p/§v.ts(§n,§i): error TS§n: Cannot find name '§c'.",
    "FAILED tests/test_§v.py::test_§v - AssertionError: assert §n == §n",
    "[§n.§z000] §w: §w §w at 0x§h, irq §i",
    "   §i: §w::§w::§v\n             at ./src/§p.rs:§n:§i",
)

PAGES: Final = (
    "### How to §w a §w?",
    "§s §s\n§s",
    "* §s\n* [x] §s\n* §s *§w* §s",
    "```sh\npip install §k\n§w --§k §n ./§p\n```",
    "**§W:** §P, §d. §s",
    "![§w](https://example.com/§p.png)\n\n---",
    "The `--§k` flag (default: `§n`) sets the §w: §s §s",
    "| option | type | default |\n| :--- | :---: | ---: |\n| §c | `§w` | §n |\n"
    "| §c | `§w` | — |",
)  # fmt: skip

SETTINGS: Final = (
    "apiVersion: apps/v1\nkind: §C\nmetadata:\n  name: §k\n  labels:\n    app: §w\nspec:\n"
    "  replicas: §i\n  template:\n    spec:\n      containers:\n        - name: §k",
    "on:\n  push:\n    branches: [ §w ]\njobs:\n  §w:\n    runs-on: ubuntu-latest\n"
    "    steps:\n      - run: §w §w --§k=§n",
    '- id: §n\n  §w: "§s"\n  §v: ~\n  §w:\n    - §w\n    - §w',
)

LANGUAGES: Final = {
    "Chinese": (
        "昨天 下 了 很大 的 雨 ， 街道 整天 都 是 湿的 ， 但是 大家 还是 照常 去 上班 "
        "。 这个 函数 返回 一个 列表 ， 如果 没有 找到 就 抛出 异常 。"
    ),
    "Japanese": (
        "この 関数は 結果の 一覧を 返します 。 駅の 近くに 新しい レストランが "
        "できたので 、 友達と 一緒に 行きました 。"
    ),
    "Hindi": (
        "बाज़ार में आज बहुत भीड़ थी, इसलिए हम देर से घर पहुँचे। बच्चों ने स्कूल के बाद "
        "नदी के किनारे खेल खेला और पुरानी किताबें पढ़ीं।"
    ),
    "Arabic": (
        "كان السوق مزدحما اليوم فوصلنا إلى البيت متأخرين. لعب الأطفال قرب النهر بعد "
        "المدرسة وقرأوا كتبا قديمة عن البحر."
    ),
    "Russian": (
        "На рынке сегодня было много народу, поэтому мы поздно вернулись домой. После "
        "школы дети играли у реки и читали старые книги о море."
    ),
    "Thai": ("วันนี้ตลาดมีคนเยอะมาก เราจึงกลับบ้านสาย หลังเลิกเรียนเด็กๆเล่นกันริมแม่น้ำ และอ่านหนังสือเก่าเกี่ยวกับทะเล"),
    "Korean": (
        "오늘 시장에 사람이 많아서 집에 늦게 도착했습니다. 아이들은 학교가 끝난 뒤 "
        "강가에서 놀고 바다에 관한 오래된 책을 읽었습니다."
    ),
    "Greek": (
        "Η αγορά είχε πολύ κόσμο σήμερα και φτάσαμε αργά στο σπίτι. Μετά το σχολείο τα "
        "παιδιά έπαιξαν δίπλα στο ποτάμι."
    ),
    "Hebrew": (
        "השוק היה עמוס היום ולכן הגענו הביתה מאוחר. אחרי בית הספר הילדים שיחקו ליד הנהר "
        "וקראו ספרים ישנים."
    ),
    "German": (
        "Auf dem Markt war heute viel los, deshalb kamen wir erst spät nach Hause. Nach "
        "der Schule spielten die Kinder am Fluß und lasen alte Bücher über das Meer."
    ),
    "French": (
        "Il y avait beaucoup de monde au marché, c'est pourquoi nous sommes rentrés "
        "tard. Après l'école, les enfants ont joué au bord de l'eau et lu de vieux "
        "livres."
    ),
    "Spanish": (
        "Había mucha gente en el mercado, por eso llegamos tarde a casa. Después de la "
        "escuela los niños jugaron junto al río y leyeron libros viejos sobre el mar."
    ),
    "Vietnamese": (
        "Hôm nay chợ rất đông nên chúng tôi về nhà muộn. Sau giờ học bọn trẻ chơi bên "
        "bờ sông và đọc những cuốn sách cũ về biển."
    ),
    "emoji": ("😂 🤔 👏🏿 👩‍💻 🌍 🎁 💥 📌 🙌 💚 🇯🇵 🇧🇷 ☑️ 🚫 ℹ️ 🗂️ 🪛 🦀🔬🏆📉🧹🎬🥑🛴 ⛈️🎹📖🔑🗺️🌵🎺"),
}
"""Sentences in other languages; their words are shuffled. Those without blanks between words are
joined without."""
