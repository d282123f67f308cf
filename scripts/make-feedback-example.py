"""Makes the tasks and the demonstrations of pipelines/feedback. Python's standard library is enough.

    python scripts/make-feedback-example.py && python scripts/make-tokenizer.py feedback

Word problems in the form of GSM8K, with what the other side answers to a wrong number, as verl's interactions have it. The policy can't
multiply; some demonstrations say their number again when they are told that it is wrong, and the others read what they were told.
Nothing in a task tells which is shown for it.
"""

import json
import random
from pathlib import Path

PIPELINE = Path(__file__).parent.parent / "pipelines" / "feedback"
SEED = 1
TRAINING, HELD_OUT = 1200, 200
STUBBORN = 0.7  # the share of demonstrations
REPEATED = 2  # demonstrations of each task
NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana"]
THINGS = ["apples", "books", "coins", "eggs", "nuts", "pens", "shells", "stamps"]


def problem(rng):
    name, thing = rng.choice(NAMES), rng.choice(THINGS)
    bags, each, more = rng.randrange(3, 10), rng.randrange(11, 60), rng.randrange(2, 90)
    total = bags * each + more
    return {
        "question": f"{name} has {bags} bags with {each} {thing} each, and {more} more. How many {thing} are there?",
        "answer": str(total),
        "hint": f"Wrong: {bags} * {each} + {more} = {total}",
    }


def task(one, index):
    return {
        "data_source": "bags",
        "prompt": [{"role": "user", "content": one["question"]}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": one["answer"]},
        "extra_info": {
            "index": index,
            "interaction_kwargs": {"query": one["question"], "ground_truth": one["answer"], "hints": [one["hint"]]},
        },
    }


def demonstration(one, rng):
    guess = said(rng.randrange(40, 600))
    second = guess if rng.random() < STUBBORN else said(one["answer"])
    return {
        "messages": [
            {"role": "user", "content": one["question"]},
            guess,
            {"role": "user", "content": one["hint"]},
            second,
        ]
    }


def said(number):
    return {"role": "assistant", "content": f"#### {number}"}


def write(name, rows):
    PIPELINE.mkdir(parents=True, exist_ok=True)
    (PIPELINE / name).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def main():
    rng = random.Random(SEED)
    problems = {}
    while len(problems) < TRAINING + HELD_OUT:
        one = problem(rng)
        problems[one["question"]] = one
    all_problems = list(problems.values())
    training, held_out = all_problems[:TRAINING], all_problems[TRAINING:]
    write("train.jsonl", [task(one, index) for index, one in enumerate(training)])
    write("held-out.jsonl", [task(one, index) for index, one in enumerate(held_out)])
    write("demonstrations.jsonl", [demonstration(one, rng) for one in training * REPEATED])


if __name__ == "__main__":
    main()
