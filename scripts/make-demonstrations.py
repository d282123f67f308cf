"""Makes pipelines/calculator/demonstrations.jsonl, and calls.jsonl of those that call the tool, from the training split. Python's standard library is enough.

    python scripts/make-demonstrations.py

A share of the demonstrations calls the calculator and reads its result; the others guess outright. A guess has the
right sign and size but seldom the right digits. Nothing in a task tells which of the two is shown for it.
Every shape of expression (how many digits each term has) is shown equally often: sums of two digits are few in the
training split, and what is rare there would not be copied reliably. A task that is drawn again is decided again.
"""

import itertools
import json
import random
from pathlib import Path

PIPELINE = Path(__file__).parent.parent / "pipelines" / "calculator"
SEED = 1
ROWS = 4000
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


def shape(task):
    """How many digits each term of the task's expression has."""
    return tuple(len(term) for term in task["extra_info"]["expression"].split() if term.isdigit())


def draw(tasks, rng):
    """Draws tasks for ever: shape after shape, each shape's tasks in random order until all were drawn."""
    shapes = {}
    for task in tasks:
        shapes.setdefault(shape(task), []).append(task)
    left = {key: [] for key in shapes}
    for key in itertools.cycle(sorted(shapes)):
        if not left[key]:
            left[key] = rng.sample(shapes[key], len(shapes[key]))
        yield left[key].pop()


def main():
    rng = random.Random(SEED)
    tasks = [json.loads(line) for line in (PIPELINE / "chain-sum-small.train.jsonl").read_text().splitlines()]
    rows = [demonstrate(task, rng) for task in itertools.islice(draw(tasks, rng), ROWS)]
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    (PIPELINE / "demonstrations.jsonl").write_text(text)
    calls = [line for line, row in zip(text.splitlines(keepends=True), rows) if len(row["messages"]) > 2]
    (PIPELINE / "calls.jsonl").write_text("".join(calls))
    print(f"{len(rows)} demonstrations, {len(calls)} of them with a tool call, {len(text)} bytes")


if __name__ == "__main__":
    main()
