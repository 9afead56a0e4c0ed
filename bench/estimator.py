"""Measure the token estimate against an exact tokenizer, per kind of text; fit its weights anew.

python bench/estimator.py                      # generated texts only
python bench/estimator.py --data DIR           # and the messages of every *.jsonl.gz in DIR
python bench/estimator.py --data DIR --fit     # also print refitted weights (needs numpy)
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles

from refold import classify
from refold.text.json_text import is_json
from refold.text.scan import pair_codes
from refold.tokens import estimate
from refold.tokens.estimate import estimate_tokens
from refold.tokens.exact import ENCODINGS, ExactCounter

MIN_TOKENS = 20
PAIRS = [16 * a + b for a in range(1, 15) for b in range(1, 15)]
SCRIPT_RANGES = {n: (a, b) for n, (a, b, _) in enumerate(estimate.SCRIPT_WEIGHTS, start=1)}
SCRIPT_NUMBERS = bytes(
    next((n for n, (a, b) in SCRIPT_RANGES.items() if a <= byte <= b), 0) for byte in range(256)
)
PER_SOURCE = 700
MAX_CHARS = 20_000

SEEDS = {
    "Hindi": "यह एक साधारण वाक्य है जिसमें हम मौसम और शहर की बात करते हैं। कल बारिश हुई थी और सड़कें गीली थीं।",
    "Arabic": "هذا نص عادي يتحدث عن الطقس والمدينة والناس. هطل المطر أمس وكانت الشوارع مبللة جدا.",
    "Russian": "Это обычный текст о погоде, городе и людях. Вчера шёл дождь, и улицы были мокрыми весь день.",
    "Thai": "นี่คือข้อความธรรมดาเกี่ยวกับสภาพอากาศและเมือง เมื่อวานฝนตกและถนนเปียกมาก",
    "Korean": "이것은 날씨와 도시에 관한 평범한 글입니다. 어제 비가 와서 거리가 젖었습니다.",
    "Greek": "Αυτό είναι ένα απλό κείμενο για τον καιρό και την πόλη. Χθες έβρεξε και οι δρόμοι ήταν υγροί.",
    "Hebrew": "זהו טקסט רגיל על מזג האוויר והעיר. אתמול ירד גשם והרחובות היו רטובים.",
    "German": "Gestern regnete es, und die Straßen waren den ganzen Tag über naß; größere Übel blieben aus.",
    "French": "L'été dernier, nous avons déjeuné à l'ombre des marronniers, près de la rivière où l'on pêchait.",
    "Vietnamese": "Hôm qua trời mưa và đường phố ướt cả ngày, nhưng mọi người vẫn đi làm như bình thường.",
    "emoji": "😀 🎉 👍🏽 👨‍👩‍👧‍👦 🚀 ✨ 🔥 💡 🙏🏻 ❤️ 🇩🇪 🇫🇷 ✅ ❌ ⚠️ 📦 🔧 🐛🧪🎯📈🛠️🏁🍎🚲 🌧️🎻📚🔒🧭🪴🥁",
}


def generated() -> Iterator[tuple[str, str]]:
    """Yield kinds of text that conversations seldom hold, from a fixed seed."""
    rng = random.Random(3)
    for kind, seed in SEEDS.items():
        words = seed.split(" ")
        for _ in range(40):
            rng.shuffle(words)
            yield kind, " ".join(words * rng.randint(2, 4))
    for _ in range(60):
        noise = rng.randbytes(rng.randint(30, 600))
        yield "base64", base64.b64encode(noise).decode()
        yield "hex", noise.hex()
        yield "white space", (" " * rng.randint(1, 40) + "\n") * rng.randint(5, 60)
        yield "one letter", "a" * rng.randint(200, 1000)
        yield "numbers", " ".join(str(rng.randrange(10 ** rng.randint(1, 9))) for _ in range(60))


def recorded(directory: Path) -> Iterator[tuple[str, str]]:
    """Yield texts of real conversations, at most a few hundred of each source."""
    for path in sorted(directory.glob("*.jsonl.gz")):
        texts: list[str] = []
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                for message in record.get("messages") or ():
                    texts.append(message.get("content") or "")
                    calls = message.get("tool_calls") or ()
                    texts.extend(call["function"]["arguments"] for call in calls)
                texts.append(record.get("text") or "")
        random.Random(1).shuffle(texts)
        for text in texts[:PER_SOURCE]:
            yield path.name.removesuffix(".jsonl.gz"), text[:MAX_CHARS]


def kind_of(text: str) -> str:
    """Tell roughly what kind of text something is."""
    if is_json(text):
        return "JSON"
    wide = sum("\u3040" <= char <= "\u9fff" for char in text[:2000])
    if wide > 0.2 * len(text[:2000]):
        return "Chinese, Japanese"
    reasons = classify(text).reasons
    if {"indented_code", "code_fence", "high_special_char_ratio"} & set(reasons):
        return "code and output"
    return "English and other prose"


def features(text: str) -> list[int]:
    """Count what the estimate weighs: pairs of classes, then units of each script."""
    data = text.encode("utf-8", "surrogatepass")
    pairs = Counter(pair_codes(data.translate(estimate.CLASSES), estimate.FIRST)[: len(data)])
    units = Counter(text.encode("utf-16-le", "surrogatepass")[1::2].translate(SCRIPT_NUMBERS))
    return [*(pairs[pair] for pair in PAIRS), *(units[number] for number in SCRIPT_RANGES)]


def fit(texts: list[tuple[str, str]], counts: list[int]) -> None:
    """Print weights that minimise the relative error; none may be negative."""
    import numpy as np

    rows = np.array([features(text) for _, text in texts], float)
    wanted = np.array(counts, float)
    scale = 1 / np.maximum(wanted, MIN_TOKENS)
    a, b = rows * scale[:, None], wanted * scale
    gram, target = a.T @ a + 1e-2 * np.eye(a.shape[1]), a.T @ b
    weights = np.zeros(a.shape[1])
    for _ in range(3000):
        for j in range(len(weights)):
            step = (target[j] - gram[j] @ weights) / gram[j, j]
            weights[j] = max(weights[j] + step, 0)
    units = [min(255, round(estimate.UNIT * weight)) for weight in weights]
    names = estimate.CLASS_NAMES[1:]
    for place, name in enumerate(names):
        row = units[place * len(names) : (place + 1) * len(names)]
        print(name, " ".join(f"{unit:3d}" for unit in row))
    for (first, last), unit in zip(SCRIPT_RANGES.values(), units[len(PAIRS) :], strict=True):
        print(f"0x{first:02X}, 0x{last:02X}, {unit}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="directory of *.jsonl.gz conversations")
    parser.add_argument("--encoding", choices=ENCODINGS, default="o200k_base")
    parser.add_argument("--by", choices=("source", "kind"), default="source")
    parser.add_argument("--fit", action="store_true", help="also fit the weights anew")
    args = parser.parse_args()
    found = recorded(args.data) if args.data else ()
    named = ((kind_of(text) if args.by == "kind" else source, text) for source, text in found)
    texts = [*generated(), *named]
    count = ExactCounter(args.encoding)
    counts = [count(text) for _, text in texts]
    ratios: dict[str, list[float]] = defaultdict(list)
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for (kind, text), exact in zip(texts, counts, strict=True):
        if exact >= MIN_TOKENS:
            guess = estimate_tokens(text)
            for name in (kind, "ALL"):
                ratios[name].append(guess / exact)
                sums[name][0] += guess
                sums[name][1] += exact
    print(f"estimate ÷ {args.encoding}, texts of {MIN_TOKENS} tokens and more")
    print(f"{'kind':<44} {'texts':>6} {'5 %':>6} {'median':>6} {'95 %':>6} {'total':>6}")
    for kind, values in ratios.items():
        cuts = quantiles(values, n=20) if len(values) > 1 else [values[0]] * 19
        total = sums[kind][0] / sums[kind][1]
        print(
            f"{kind:<44} {len(values):>6} {cuts[0]:>6.2f} {cuts[9]:>6.2f} {cuts[18]:>6.2f} "
            f"{total:>6.2f}"
        )
    if args.fit:
        fit(texts, counts)


if __name__ == "__main__":
    main()
