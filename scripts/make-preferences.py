"""Makes pipelines/calculator/preferences.jsonl from the training split. Python's standard library is enough.

    python scripts/make-preferences.py

Of each pair the preferred answer calls the calculator and reads its result; the other guesses outright, and is wrong.
"""

import json
import random
from pathlib import Path

PIPELINE = Path(__file__).parent.parent / "pipelines" / "calculator"
SEED = 2
ROWS = 512


def answer(number):
    return {"role": "assistant", "content": f"Answer: {number}"}


def guess(truth, rng):
    """A number near `truth`, and not it."""
    return truth + rng.choice((-1, 1)) * max(1, round(abs(rng.gauss(0, 0.15 * abs(truth)))))


def pair(task, rng):
    truth = task["reward_model"]["ground_truth"]
    function = {"name": "calculator", "arguments": {"expression": task["extra_info"]["expression"]}}
    call = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
    return {
        "prompt": task["prompt"],
        "chosen": [call, {"role": "tool", "content": truth}, answer(truth)],
        "rejected": [answer(guess(int(truth), rng))],
    }


def main():
    rng = random.Random(SEED)
    tasks = [json.loads(line) for line in (PIPELINE / "chain-sum-small.train.jsonl").read_text().splitlines()]
    rows = [json.dumps(pair(task, rng), separators=(",", ":")) for task in rng.sample(tasks, ROWS)]
    (PIPELINE / "preferences.jsonl").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
