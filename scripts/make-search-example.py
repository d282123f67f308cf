"""Makes the corpus, the tasks and the demonstrations of pipelines/search. Python's standard library is enough.

    python scripts/make-search-example.py && python scripts/make-tokenizer.py search

The corpus is the catalogue of a museum that does not exist. Some demonstrations guess, some search for the kind of
thing alone, which finds another one, and the others for the thing. Nothing in a task tells which is shown for it.
"""

import json
import random
from pathlib import Path

PIPELINE = Path(__file__).parent.parent / "pipelines" / "search"
SEED = 1
TRAINING, HELD_OUT = 1200, 200
GUESSES, VAGUE = 0.35, 0.4  # the shares of demonstrations
KINDS = ["lamp", "clock", "chair", "vase", "coin", "mask", "drum", "map"]
TOWNS = ["Lyon", "Oslo", "Cairo", "Lima", "Kyoto", "Delhi", "Porto", "Riga", "Quito", "Accra", "Turin", "Minsk"]
ASKED = {"made": "Where was {} made?", "found": "Where was {} found?"}


def passage(thing):
    made, found = thing["made"], thing["found"]
    return {"title": thing["name"], "text": f"{thing['name']} was made in {made} and found in {found}."}


def question(thing, what):
    return {"role": "user", "content": ASKED[what].format(thing["name"])}


def task(thing, what):
    return {
        "data_source": "museum",
        "prompt": [question(thing, what)],
        "reward_model": {"ground_truth": thing[what]},
    }


def demonstration(thing, what, things, rng):
    how = rng.random()
    if how < GUESSES:
        return {"messages": [question(thing, what), answer(rng.choice(TOWNS))]}
    is_vague = how < GUESSES + VAGUE
    query = thing["kind"] if is_vague else thing["name"]
    found = next(one for one in things if one["kind"] == thing["kind"]) if is_vague else thing
    function = {"name": "search", "arguments": {"query": query}}
    call = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
    told = f"Doc 1 (Title: {found['name']}): {passage(found)['text']}"
    return {"messages": [question(thing, what), call, {"role": "tool", "content": told}, answer(found[what])]}


def answer(town):
    return {"role": "assistant", "content": f"<answer>{town}</answer>"}


def write(name, rows):
    (PIPELINE / name).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def main():
    rng = random.Random(SEED)
    numbers = rng.sample(range(100, 1000), (TRAINING + HELD_OUT) // 2)
    things = []
    for number in numbers:
        kind = rng.choice(KINDS)
        made, found = rng.sample(TOWNS, 2)
        things.append({"name": f"{kind} {number}", "kind": kind, "made": made, "found": found})
    asked = [(thing, what) for thing in things for what in ASKED]
    rng.shuffle(asked)
    training, held_out = asked[:TRAINING], asked[TRAINING:]
    write("corpus.jsonl", map(passage, things))
    write("train.jsonl", [task(*one) for one in training])
    write("held-out.jsonl", [task(*one) for one in held_out])
    write("demonstrations.jsonl", [demonstration(*one, things, rng) for one in training])


if __name__ == "__main__":
    main()
