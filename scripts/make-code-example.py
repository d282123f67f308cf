"""Makes the tasks and the demonstrations of pipelines/code. Python's standard library is enough.

    python scripts/make-code-example.py && python scripts/make-tokenizer.py code

A question asks for a sum over a range whose end counts. Some demonstrations guess, some run a program that forgets the
end, as Python's `range` does, and the others run the right one. Nothing in a task tells which is shown for it.
"""

import json
import random
from pathlib import Path

PIPELINE = Path(__file__).parent.parent / "pipelines" / "code"
SEED = 1
TRAINING, HELD_OUT = 1500, 200
GUESSES, FORGETS = 0.4, 0.35  # the shares of demonstrations
TERMS = {"numbers": "n", "squares": "n ** 2", "cubes": "n ** 3"}


def truth(kind, first, last):
    return sum(eval(TERMS[kind], {"n": n}) for n in range(first, last + 1))


def question(kind, first, last):
    return {"role": "user", "content": f"What is the sum of the {kind} from {first} to {last}?"}


def task(split, index, drawn):
    return {
        "data_source": "sums",
        "prompt": [question(*drawn)],
        "ability": "code",
        "reward_model": {"style": "rule", "ground_truth": str(truth(*drawn))},
        "extra_info": {"split": split, "index": index},
    }


def demonstration(drawn, rng):
    kind, first, last = drawn
    how = rng.random()
    if how < GUESSES:
        return {"messages": [question(*drawn), answer(max(1, round(rng.gauss(1, 0.3) * truth(*drawn))))]}
    forgets = how < GUESSES + FORGETS
    code = f"sum({TERMS[kind]} for n in range({first}, {last}{'' if forgets else ' + 1'}))"
    result = truth(kind, first, last - 1 if forgets else last)
    function = {"name": "code", "arguments": {"code": code}}
    call = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
    return {"messages": [question(*drawn), call, {"role": "tool", "content": str(result)}, answer(result)]}


def answer(number):
    return {"role": "assistant", "content": f"Answer: {number}"}


def write(name, rows):
    (PIPELINE / name).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def main():
    rng = random.Random(SEED)
    drawn = [(kind, first, last) for kind in TERMS for first in range(1, 60) for last in range(first + 2, first + 30)]
    drawn = rng.sample(drawn, TRAINING + HELD_OUT)
    training, held_out = drawn[:TRAINING], drawn[TRAINING:]
    write("train.jsonl", [task("train", index, one) for index, one in enumerate(training)])
    write("held-out.jsonl", [task("held-out", index, one) for index, one in enumerate(held_out)])
    write("demonstrations.jsonl", [demonstration(one, rng) for one in training])


if __name__ == "__main__":
    main()
