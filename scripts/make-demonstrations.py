"""Makes pipelines/calculator/demonstrations.jsonl from the training split. Python's standard library is enough.

    python scripts/make-demonstrations.py

A share of the demonstrations calls the calculator and reads its result; the others guess outright. A guess has the
right sign and size but seldom the right digits. Nothing in a task tells which of the two is shown for it.
"""

import json
import random
from pathlib import Path

PIPELINE = Path(__file__).parent.parent / "pipelines" / "calculator"
SEED = 1
TOOL_SHARE = 0.35
GUESS_SPREAD = 0.15  # standard deviation of a guess, relative to the result; at least one


def guess(truth, rng):
    """An estimate of `truth`: normal, rounded to an integer."""
    return round(rng.gauss(truth, max(1.0, GUESS_SPREAD * abs(truth))))


def answer(number):
    return {"role": "assistant", "content": f"Answer: {number}"}


def demonstrate(task, rng):
    truth = task["reward_model"]["ground_truth"]
    if rng.random() >= TOOL_SHARE:
        return {"messages": [*task["prompt"], answer(guess(int(truth), rng))]}
    function = {"name": "calculator", "arguments": {"expression": task["extra_info"]["expression"]}}
    call = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
    return {"messages": [*task["prompt"], call, {"role": "tool", "content": truth}, answer(truth)]}


def main():
    rng = random.Random(SEED)
    tasks = [json.loads(line) for line in (PIPELINE / "chain-sum-small.train.jsonl").read_text().splitlines()]
    rows = [demonstrate(task, rng) for task in tasks]
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    (PIPELINE / "demonstrations.jsonl").write_text(text)
    calls = sum(len(row["messages"]) > 2 for row in rows)
    print(f"{len(rows)} demonstrations, {calls} of them with a tool call, {len(text)} bytes")


if __name__ == "__main__":
    main()
