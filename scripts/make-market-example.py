"""Makes the corpus, the tasks and the demonstrations of pipelines/market. Python's standard library is enough.

    python scripts/make-market-example.py && python scripts/make-tokenizer.py market

The prices of a market that does not exist are looked up with one tool, and multiplied with another. Some demonstrations guess, some
look the price up and multiply without the calculator, which they get wrong, and the others use both. Nothing in a task tells which
is shown for it.
"""

import json
import random
from pathlib import Path

PIPELINE = Path(__file__).parent.parent / "pipelines" / "market"
SEED = 1
TRAINING, HELD_OUT = 1200, 200
GUESSES, ALONE = 0.3, 0.4  # the shares of demonstrations
KINDS = ["lamp", "clock", "chair", "vase", "coin", "mask", "drum", "map"]


def told(thing):
    return f"{thing['name']} costs {thing['price']} coins."


def question(thing, count):
    return {"role": "user", "content": f"What do {count} of {thing['name']} cost?"}


def task(thing, count):
    return {
        "data_source": "market",
        "prompt": [question(thing, count)],
        "reward_model": {"ground_truth": str(count * thing["price"])},
    }


def call(name, arguments):
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}


def demonstration(thing, count, rng):
    how = rng.random()
    wrong = said(rng.randrange(20, 800))
    if how < GUESSES:
        return {"messages": [question(thing, count), wrong]}
    found = {"role": "tool", "content": f"Doc 1 (Title: {thing['name']}): {told(thing)}"}
    looked = [question(thing, count), call("search", {"query": thing["name"]}), found]
    if how < GUESSES + ALONE:
        return {"messages": [*looked, wrong]}
    total = count * thing["price"]
    multiplied = [call("calculator", {"expression": f"{count} * {thing['price']}"}), {"role": "tool", "content": str(total)}]
    return {"messages": [*looked, *multiplied, said(total)]}


def said(number):
    return {"role": "assistant", "content": f"Answer: {number}"}


def write(name, rows):
    PIPELINE.mkdir(parents=True, exist_ok=True)
    (PIPELINE / name).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def main():
    rng = random.Random(SEED)
    numbers = rng.sample(range(100, 1000), 350)
    things = [{"name": f"{rng.choice(KINDS)} {number}", "price": rng.randrange(11, 99)} for number in numbers]
    asked = [(thing, count) for thing in things for count in rng.sample(range(2, 10), 4)]
    rng.shuffle(asked)
    training, held_out = asked[:TRAINING], asked[TRAINING:]
    write("corpus.jsonl", [{"title": thing["name"], "text": told(thing)} for thing in things])
    write("train.jsonl", [task(*one) for one in training])
    write("held-out.jsonl", [task(*one) for one in held_out])
    write("demonstrations.jsonl", [demonstration(*one, rng) for one in training])


if __name__ == "__main__":
    main()
