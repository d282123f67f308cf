"""Writes tests/fixtures/qa-squad.json: pairs of answers with the exact match and F1 of SQuAD 2.0's official script, as
transformers 4.57 carries it (pip install transformers==4.57.3; python scripts/make-qa-fixtures.py)."""

import json
import random
from pathlib import Path

from transformers.data.metrics.squad_metrics import compute_exact, compute_f1, normalize_answer

random.seed(16)
words = ["the", "The", "a", "an", "Goethe", "goethe,", "U.S.", "U.S.A", "1,000", "$5.50", "it's", "its", "état", "Éa", "a's",
         "the-end", "theatre", "an.", "_a_", "İstanbul", "ΣΑΣ", "straße", "日本", "…", "“quoted”", "—", "café", "", "  ", "\u00a0", "\u3000",
         "\u200b", "\x85", "\ufeff", "\n", "A", "e\u0301a", "½", "²", "ⅷ", "x²a", "^", "`b`"]


def answer():
    return random.choice([" ", " ", "", "\t"]).join(random.choice(words) for _ in range(random.randrange(0, 6)))


def scores(given, golds):
    # As get_raw_scores has it: gold answers of which nothing is left don't count, and where none is left, no answer is right.
    kept = [gold for gold in golds if normalize_answer(gold)] or [""]
    return max(compute_exact(gold, given) for gold in kept), max(compute_f1(gold, given) for gold in kept)


cases = [("Goethe", ["goethe."]), ("the United States", ["United States of America", "USA"]), ("", [""]), ("no", [""]), ("", ["a"])]
for _ in range(600):
    golds = [answer() for _ in range(random.randrange(1, 4))]
    given = random.choice([answer(), random.choice(golds), random.choice(golds).upper(), answer() + " " + random.choice(golds)])
    cases.append((given, golds))
rows = [dict(zip(("given", "golds", "em", "f1"), (given, golds, *scores(given, golds)))) for given, golds in cases]
path = Path(__file__).parent.parent / "tests" / "fixtures" / "qa-squad.json"
path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
