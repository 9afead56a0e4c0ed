"""Templates of source code, logs, pages and prose: one part to fit to, another to test on.

A paragraph sign and a letter is a slot; `estimator_texts` says what belongs into each.
"""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "fit": (
        "name value data path file index key node list user result config state item count type "
        "line text id error message request response option start end size token event task job "
        "parent child buffer stream handler client server session cache queue worker header body "
        "field column table row record entry offset length limit width height source target source "
        "level logger output input format parser reader writer encoding decoder version module "
        "package symbol scope frame block thread process signal timeout retry delay interval "
        "account balance invoice order payment ticket booking flight airline customer address "
        "export import merge branch commit patch render layout widget button cursor margin "
        "matrix vector tensor gradient sample weight median variance threshold harbour lantern "
        "ledger kettle meadow crate tide beacon anchor gauge valve pump turbine compressor"
    ).split(),
    "test": (
        "info content args params context callback props element model view store action target "
        "filename directory prefix suffix pattern match group string number array object method "
        "attribute property default current previous next first last total max min temp status "
        "url host port query route endpoint payload schema validator permission role policy "
        "database connection cursor transaction migration index backup snapshot replica shard "
        "image pixel color palette shader texture mesh camera viewport animation duration "
        "sensor reading voltage battery firmware device driver bus interrupt register memory "
        "garden orchard weather rainfall bicycle train platform luggage violin chapter novel "
        "recipe flour oven kitchen clinic patient nurse dosage harvest tractor barn"
    ).split(),
}  # fmt: skip

SENTENCES: Final = {
    "fit": (
        "Return the §w of the §w, or None if there is no such §w.",
        "The §w is read once and kept; a later §w does not change it.",
        "If the §w is empty, the §w of the parent is used instead.",
        "We should check whether the §w still holds before the §w is written.",
        "This does not work when two of them are opened at the same time.",
        "It was a long day, and nobody remembered who had moved the §w.",
        "Please send the §w to the office before noon on Friday.",
        "TODO: handle the case where the §w is larger than the §w.",
        "I've looked at the §w and found that the §w was never closed.",
    ),
    "test": (
        "Each §w is checked against the §w that was given, and refused if it is too old.",
        "Raises an exception when the §w cannot be found in the given §w.",
        "You can change this with the §w option, which is off by default.",
        "She carried the §w down to the river and waited for the others.",
        "Note that the order of the results is not guaranteed.",
        "Why do we need this? Because the §w used to be shared between all of them.",
        "Thanks for the report, I'll have a look at the §w tomorrow morning.",
        "The new version is about twice as fast and needs less memory than before.",
    ),
}

CODE: Final = {
    "Python": {
        "fit": (
            "import §w\nimport os\nimport re\nimport sys\nfrom §w import §C\n"
            "from collections import defaultdict\nfrom typing import Any, Optional\n",
            'def §v(self, §v, §v=None, *args, **kwargs):\n    """§s\n\n    §s\n    """\n'
            "    if §v is None:\n        §v = self._§v\n    return self.§v(§v, §v)",
            "class §C(§C):\n    \"\"\"§s\"\"\"\n\n    def __init__(self, §v, §v=§n):\n"
            "        super().__init__()\n        self.§v = §v\n        self._§v = {}\n",
            "    @property\n    def §v(self) -> str:\n        return self._§v\n\n"
            "    @§v.setter\n    def §v(self, value):\n        self._§v = value",
            "    try:\n        with open(§v, 'rb') as f:\n            §v = f.read()\n"
            "    except (OSError, ValueError) as exc:\n"
            "        raise §CError(f\"cannot read {§v!r}: {exc}\") from exc",
            "    for §w, §w in sorted(self.§v.items()):\n        if not §w.startswith('§w'):\n"
            "            continue\n        §v.append((§w, §w[§i:]))\n    return §v",
            "# §s\n§K = §n\n§K = '§w'\n_§K = frozenset(['§w', '§w', '§w', '§k'])\n"
            "__all__ = ['§C', '§v', '§v']",
            "    def test_§v(self):\n        §w = §C(§n, '§w')\n"
            "        self.assertEqual(§w.§v(§n), [§i, §i, §n])\n"
            "        self.assertRaises(TypeError, §w.§v, None)\n"
            "        self.assertTrue(isinstance(§w, §C))",
            "    while True:\n        §w = self._§v.pop()\n        if §w == b'\\n' or not §w:\n"
            "            break\n        §v += len(§w)\n        # §s\n        if §v > §n:\n"
            "            return -1",
            "parser.add_argument('--§k', '-§i', type=int, default=§n,\n"
            "                    help='§s')",
            "    return {\n        '§w': self.§v,\n        '§v': int(§v) if §v else 0,\n"
            "        \"§w\": [x for x in §v if x is not None],\n    }",
            "_§v_re = re.compile(r'^\\s*(?P<§w>[a-z_]+)\\s*=\\s*(\\d+)$', re.M)\n\n"
            "def _§v(s):\n    m = _§v_re.match(s)\n    if m is None:\n        return s, ''\n"
            "    i = m.end()\n    return s[:i].lower(), s[i+1:]",
            'if __name__ == "__main__":\n    logging.basicConfig(level=logging.INFO)\n'
            "    sys.exit(main(sys.argv[1:]))",
            "async def §v(§v: §C, *, §w: list[str] | None = None) -> dict[str, Any]:\n"
            "    §w = await self.§w.get(f\"/api/§w/{§v}\", timeout=§i)\n"
            "    §w.raise_for_status()\n    return §w.json()",
        ),
        "test": (
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
    },
    "TypeScript": {
        "fit": (
            "import { §C, type §C } from './§w/§k';\nimport * as §w from \"§w\";\n"
            "import type { §C } from '../../§w';",
            "export interface §C extends §C {\n  §c: string;\n  §c?: number;\n"
            "  readonly §c: Record<string, §C[]>;\n  /** §s */\n  on§C: (§w: §C) => void;\n}",
            "export async function §c(§w: §C, §c: string = '§w'): Promise<§C | undefined> {\n"
            "  const §w = await this.§w.find({ where: { §c, id: §w.id } });\n"
            "  if (!§w) {\n    throw new Error(`§W not found: ${§w}`);\n  }\n  return §w;\n}",
            "const [§w, set§C] = useState<§C | null>(null);\nuseEffect(() => {\n"
            "  §c().then((res) => set§C(res.data));\n}, [§w, §c]);",
            "export class §C implements §C {\n  private §c = new Map<string, §C>();\n\n"
            "  constructor(private readonly §c: §C) {}\n\n  get §c(): boolean {\n"
            "    return this.§c.size > §i;\n  }\n}",
            "  return (\n    <div className=\"flex items-center gap-2\">\n"
            "      <§C §w={§c} onClick={() => handle§C(§w.id)} />\n"
            "      {§c && <span>{§w.§w}</span>}\n    </div>\n  );",
            "\tprivate _§c(§c: number, §w: §C[]): void {\n\t\tfor (const §w of this._§c) {\n"
            "\t\t\tif (§w.§c === §n || typeof §w !== 'string') {\n\t\t\t\tcontinue;\n\t\t\t}\n"
            "\t\t\tthis._§c.push(§w);\n\t\t}\n\t}",
            "export const §c = z.object({\n  §w: z.string().min(1),\n  §c: z.number().optional(),\n"
            "});\nexport type §C = z.infer<typeof §c>;",
            "describe('§C', () => {\n  it('should §w the §w', async () => {\n"
            "    const §w = §c({ §w: §n });\n    expect(§w.§c).toBe(true);\n  });\n});",
            "// §s\nexport const §K = {\n  §w: '§w',\n  §c: §n,\n} as const;\n",
            "  try {\n    §w = JSON.parse(§w) as §C;\n  } catch (e) {\n"
            "    console.error('[§C] failed to parse', e);\n    return [];\n  }",
            "/**\n * §s\n * @param §w §s\n * @returns the §w\n */\n"
            "function §c<T>(§w: T[], fn: (x: T, i: number) => boolean): T[] {\n"
            "  return §w.filter((x, i) => fn(x, i)).map(x => ({ ...x }));\n}",
        ),
        "test": (
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
    },
}  # fmt: skip

LOG_LINES: Final = {
    "fit": (
        "§dT§t.§zZ INFO §w-§i §w §w §w took §n ms",
        "§d §t,§z - §w.§w - WARNING - §w §w failed for §v=§n",
        "[§d §t] ERROR [§w] §s (attempt §i)",
        "§d §t INFO §C: §w §w §n/§n §u",
        '§a - - [14/Mar/2026:§t +0000] "GET /§p?§w=§n HTTP/1.1" 200 §n',
        "Mar 14 §t §w-§i §w[§n]: §w §w from §a port §n",
        'level=info ts=§dT§t.§zZ caller=§w.go:§n msg="§w §w" §w=§h §w=§nms',
        "test_§v (§w.tests.§C) ... ok",
        "tests/§p/test_§v.py::§C::test_§v PASSED [ §i%]",
        '  File "/usr/lib/§w/§v.py", line §n, in §v\n    §v = self.§v(§v)',
        "src/§p/§v.py:§n:§i: E§n §w '§v' is not defined",
        "npm http fetch GET 200 https://example.org/§k §nms",
    ),
    "test": (
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
    ),
}

PAGES: Final = {
    "fit": (
        "# §W §w",
        "## §W and §w",
        "§s §s §s §s",
        "- §s\n- §s\n- `§v`: §s",
        "1. **§W §w**: §s\n2. **§W**: §s",
        "```python\nfrom §w import §C\n§w = §C(§v=§n)\nprint(§w.§v)\n```",
        "| §W | §W | §w |\n|---|---|---|\n| `§v` | §n | §s |\n| `§v` | §f | §s |",
        "See [the §w page](docs/§k.md#§k) or https://example.org/§p for the §w. §s",
        "> §s §s",
        "Set `§K=§n` and call `§c()`; `§w/§v.py` has the rest.",
        "§s §s\n§s §s §s",
    ),
    "test": (
        "### How to §w a §w?",
        "§s §s\n§s",
        "* §s\n* [x] §s\n* §s *§w* §s",
        "```sh\npip install §k\n§w --§k §n ./§p\n```",
        "**§W:** §P, §d. §s",
        "![§w](https://example.com/§p.png)\n\n---",
        "The `--§k` flag (default: `§n`) sets the §w: §s §s",
        "| option | type | default |\n| :--- | :---: | ---: |\n| §c | `§w` | §n |\n"
        "| §c | `§w` | — |",
    ),
}  # fmt: skip

SETTINGS: Final = {
    "fit": (
        "version: '3.§i'\nservices:\n  §w:\n    image: §w/§k:§i.§i\n    ports:\n"
        '      - "§n:§n"\n    environment:\n      §K: §w',
        "  - name: §W the §w\n    uses: §w/§k@v§i\n    with:\n      §k: §n\n      §v: true",
        "§v:\n  - §v: §w/§k\n    §v:\n      §w: §w\n      §v: os.environ/§K\n      §v: §n",
        '# §s\n§w:\n  enabled: false\n  §c: §f\n  §c: ["§w", "§w"]',
    ),
    "test": (
        "apiVersion: apps/v1\nkind: §C\nmetadata:\n  name: §k\n  labels:\n    app: §w\nspec:\n"
        "  replicas: §i\n  template:\n    spec:\n      containers:\n        - name: §k",
        "on:\n  push:\n    branches: [ §w ]\njobs:\n  §w:\n    runs-on: ubuntu-latest\n"
        "    steps:\n      - run: §w §w --§k=§n",
        '- id: §n\n  §w: "§s"\n  §v: ~\n  §w:\n    - §w\n    - §w',
    ),
}

LANGUAGES: Final = {
    "Chinese": {
        "fit": "我们 今天 把 仓库 里 的 木箱 又 数 了 一遍 ， 结果 比 昨天 少 了 三个 。 "
        "数据库 的 服务 需要 在 周五 之前 升级 ， 请 把 新的 清单 发给 办公室 。 他们 "
        "在 河边 的 小 饭馆 里 谈 了 很久 ， 最后 决定 明年 春天 再 来 。",
        "test": "昨天 下 了 很大 的 雨 ， 街道 整天 都 是 湿的 ， 但是 大家 还是 照常 去 上班 "
        "。 这个 函数 返回 一个 列表 ， 如果 没有 找到 就 抛出 异常 。",
    },
    "Japanese": {
        "fit": "昨日は 雨が 降って 、 道は 一日中 濡れて いました 。 ホテルの 予約を "
        "金曜日までに 変更して いただけますか 。 彼は 静かな 海辺の 町で 生まれ 、 毎朝 "
        "早く 起きて 古い 新聞を 読んで いた 。",
        "test": "この 関数は 結果の 一覧を 返します 。 駅の 近くに 新しい レストランが "
        "できたので 、 友達と 一緒に 行きました 。",
    },
    "Hindi": {
        "fit": "यह एक साधारण वाक्य है जिसमें हम मौसम और शहर की बात करते हैं। कल बारिश हुई थी "
        "और सड़कें गीली थीं। कृपया नई सूची शुक्रवार तक कार्यालय भेज दीजिए। मेरे पिता हर "
        "सुबह अख़बार पढ़ते थे और चाय पीते हुए पुराने दोस्तों को याद करते थे।",
        "test": "बाज़ार में आज बहुत भीड़ थी, इसलिए हम देर से घर पहुँचे। बच्चों ने स्कूल के बाद "
        "नदी के किनारे खेल खेला और पुरानी किताबें पढ़ीं।",
    },
    "Arabic": {
        "fit": "هذا نص عادي يتحدث عن الطقس والمدينة والناس. هطل المطر أمس وكانت الشوارع مبللة "
        "جدا. يرجى إرسال القائمة الجديدة إلى المكتب قبل يوم الجمعة. كان والدي يقرأ "
        "الجريدة كل صباح ويشرب القهوة مع أصدقائه القدامى في الحديقة. أعلنت الحكومة عن "
        "مشروع جديد لبناء المدارس والطرق في الجنوب.",
        "test": "كان السوق مزدحما اليوم فوصلنا إلى البيت متأخرين. لعب الأطفال قرب النهر بعد "
        "المدرسة وقرأوا كتبا قديمة عن البحر.",
    },
    "Russian": {
        "fit": "Это обычный текст о погоде, городе и людях. Вчера шёл дождь, и улицы были "
        "мокрыми весь день. Пожалуйста, отправьте новый список в контору до пятницы. "
        "Мой отец каждое утро читал газету и пил чай со старыми друзьями в саду. "
        "Правительство объявило о новом проекте строительства школ и дорог на юге "
        "страны. Я не знаю, что она хотела этим сказать, но больше мы об этом не "
        "говорили.",
        "test": "На рынке сегодня было много народу, поэтому мы поздно вернулись домой. После "
        "школы дети играли у реки и читали старые книги о море.",
    },
    "Thai": {
        "fit": "นี่คือข้อความธรรมดาเกี่ยวกับสภาพอากาศและเมือง เมื่อวานฝนตกและถนนเปียกมาก "
        "กรุณาส่งรายการใหม่ไปที่สำนักงานก่อนวันศุกร์ "
        "พ่อของฉันอ่านหนังสือพิมพ์ทุกเช้าและดื่มกาแฟกับเพื่อนเก่าในสวน "
        "รัฐบาลประกาศโครงการใหม่เพื่อสร้างโรงเรียนและถนนในภาคใต้",
        "test": "วันนี้ตลาดมีคนเยอะมาก เราจึงกลับบ้านสาย หลังเลิกเรียนเด็กๆเล่นกันริมแม่น้ำ "
        "และอ่านหนังสือเก่าเกี่ยวกับทะเล",
    },
    "Korean": {
        "fit": "이것은 날씨와 도시에 관한 평범한 글입니다. 어제 비가 와서 거리가 젖었습니다. "
        "금요일까지 새 목록을 사무실로 보내 주세요. 아버지는 매일 아침 신문을 읽고 오랜 "
        "친구들과 정원에서 차를 마셨습니다. 정부는 남쪽에 학교와 도로를 짓는 새로운 "
        "사업을 발표했다.",
        "test": "오늘 시장에 사람이 많아서 집에 늦게 도착했습니다. 아이들은 학교가 끝난 뒤 "
        "강가에서 놀고 바다에 관한 오래된 책을 읽었습니다.",
    },
    "Greek": {
        "fit": "Αυτό είναι ένα απλό κείμενο για τον καιρό και την πόλη. Χθες έβρεξε και οι "
        "δρόμοι ήταν υγροί. Στείλτε τη νέα λίστα στο γραφείο μέχρι την Παρασκευή. Ο "
        "πατέρας μου διάβαζε κάθε πρωί την εφημερίδα και έπινε καφέ με παλιούς φίλους. "
        "Η κυβέρνηση ανακοίνωσε ένα νέο σχέδιο για σχολεία και δρόμους στον νότο.",
        "test": "Η αγορά είχε πολύ κόσμο σήμερα και φτάσαμε αργά στο σπίτι. Μετά το σχολείο τα "
        "παιδιά έπαιξαν δίπλα στο ποτάμι.",
    },
    "Hebrew": {
        "fit": "זהו טקסט רגיל על מזג האוויר והעיר. אתמול ירד גשם והרחובות היו רטובים. נא לשלוח "
        "את הרשימה החדשה למשרד עד יום שישי. אבי קרא את העיתון בכל בוקר ושתה קפה עם "
        "חברים ותיקים בגינה. הממשלה הודיעה על תוכנית חדשה לבניית בתי ספר וכבישים בדרום. "
        "אני לא יודע מה היא רצתה לומר, אבל לא דיברנו על זה יותר.",
        "test": "השוק היה עמוס היום ולכן הגענו הביתה מאוחר. אחרי בית הספר הילדים שיחקו ליד הנהר "
        "וקראו ספרים ישנים.",
    },
    "German": {
        "fit": "Gestern regnete es, und die Straßen waren den ganzen Tag über naß; größere "
        "Übel blieben aus. Bitte schicken Sie die neue Liste bis Freitag an das Büro, "
        "damit wir die Bestellung prüfen können. Mein Vater las jeden Morgen die "
        "Zeitung und trank mit alten Freunden Kaffee. Ich weiß nicht, was sie damit "
        "sagen wollte, aber wir haben nicht mehr darüber gesprochen.",
        "test": "Auf dem Markt war heute viel los, deshalb kamen wir erst spät nach Hause. Nach "
        "der Schule spielten die Kinder am Fluß und lasen alte Bücher über das Meer.",
    },
    "French": {
        "fit": "L'été dernier, nous avons déjeuné à l'ombre des marronniers, près de la "
        "rivière où l'on pêchait. Veuillez envoyer la nouvelle liste au bureau avant "
        "vendredi. Mon père lisait le journal tous les matins et prenait le café avec "
        "de vieux amis. Le gouvernement a annoncé un nouveau projet de construction "
        "d'écoles et de routes dans le sud du pays. Je ne sais pas ce qu'elle voulait "
        "dire, mais nous n'en avons plus parlé.",
        "test": "Il y avait beaucoup de monde au marché, c'est pourquoi nous sommes rentrés "
        "tard. Après l'école, les enfants ont joué au bord de l'eau et lu de vieux "
        "livres.",
    },
    "Spanish": {
        "fit": "Ayer llovió y las calles estuvieron mojadas todo el día, pero la gente fue a "
        "trabajar como siempre. Por favor, envíe la nueva lista a la oficina antes del "
        "viernes. Mi padre leía el periódico todas las mañanas y tomaba café con viejos "
        "amigos. El gobierno anunció un nuevo proyecto para construir escuelas y "
        "caminos en el sur del país.",
        "test": "Había mucha gente en el mercado, por eso llegamos tarde a casa. Después de la "
        "escuela los niños jugaron junto al río y leyeron libros viejos sobre el mar.",
    },
    "Vietnamese": {
        "fit": "Hôm qua trời mưa và đường phố ướt cả ngày, nhưng mọi người vẫn đi làm như bình "
        "thường. Vui lòng gửi danh sách mới đến văn phòng trước thứ sáu. Cha tôi đọc "
        "báo mỗi sáng và uống cà phê với bạn cũ trong vườn. Chính phủ công bố một dự án "
        "mới để xây trường học và đường sá ở miền nam. Tôi không biết cô ấy muốn nói "
        "gì, nhưng chúng tôi không nhắc lại nữa.",
        "test": "Hôm nay chợ rất đông nên chúng tôi về nhà muộn. Sau giờ học bọn trẻ chơi bên "
        "bờ sông và đọc những cuốn sách cũ về biển.",
    },
    "emoji": {
        "fit": "😀 🎉 👍🏽 👨‍👩‍👧‍👦 🚀 ✨ 🔥 💡 🙏🏻 ❤️ 🇩🇪 🇫🇷 ✅ ❌ ⚠️ 📦 🔧 "
        "🐛🧪🎯📈🛠️🏁🍎🚲 🌧️🎻📚🔒🧭🪴🥁",
        "test": "😂 🤔 👏🏿 👩‍💻 🌍 🎁 💥 📌 🙌 💚 🇯🇵 🇧🇷 ☑️ 🚫 ℹ️ 🗂️ 🪛 🦀🔬🏆📉🧹🎬🥑🛴 ⛈️🎹📖🔑🗺️🌵🎺",
    },
}
"""Sentences in other languages; their words are shuffled. Those without blanks between words are
joined without."""
