"""Makes the tasks and the demonstrations of pipelines/repair. Python's standard library is enough.

    python scripts/make-repair-example.py && python scripts/make-tokenizer.py repair

A program is a function whose name says what it is for, and whose text has a mistake: another operator, or another
number. Some demonstrations say that all is done, some replace what they have not looked at, and the others look first
and repair it. Nothing in a task tells which is shown for it.
"""

import json
import random
from pathlib import Path

PIPELINE = Path(__file__).parent.parent / "pipelines" / "repair"
SEED = 1
TRAINING, HELD_OUT = 1500, 200
IDLE, BLIND = 0.35, 0.4  # the shares of demonstrations
OPERATORS = {"plus": "+", "minus": "-", "times": "*"}


def expression(operator, number):
    return f"n {operator} {number}"


def wrong(name, number, rng):
    """What stands in the program in the place of what should."""
    if rng.random() < 0.5:
        return expression(rng.choice([one for one in OPERATORS.values() if one != OPERATORS[name]]), number)
    return expression(OPERATORS[name], number + rng.choice([-1, 1]) * rng.randint(1, 9))


def program(name, number, text):
    return f"def {name}_{number}(n):\n    return {text}\n"


def question(name, number):
    return {"role": "user", "content": f"{name}_{number} in {name}.py fails its tests."}


def tests(name, number):
    def case(n):
        return f"def test_{n}():\n    assert {name}_{number}({n}) == {eval(expression(OPERATORS[name], number), {'n': n})}\n"

    return f"from {name} import {name}_{number}\n\n\n" + "\n\n".join(map(case, (1, 2, 7)))


def task(name, number, text):
    kwargs = {"workspace": {"create_kwargs": {"files": {f"{name}.py": program(name, number, text)}}}}
    truth = {"files": {f"test_{name}.py": tests(name, number)}}
    return {
        "data_source": "repairs",
        "prompt": [question(name, number)],
        "reward_model": {"ground_truth": json.dumps(truth)},
        "extra_info": {"tools_kwargs": kwargs},
    }


def demonstration(name, number, text, rng):
    how = rng.random()
    messages, right = [question(name, number)], expression(OPERATORS[name], number)
    if how >= IDLE + BLIND:
        lines = program(name, number, text).splitlines()
        told = "\n".join(f"{index}\t{line}" for index, line in enumerate(lines, 1))
        messages += called("view", {"path": f"{name}.py"}, told)
        messages += called("replace", {"path": f"{name}.py", "old": text, "text": right}, f"edited {name}.py")
    elif how >= IDLE:
        guess = wrong(name, number, rng)
        lacks = f"error: {name}.py does not have this text; it must be the same to the letter"
        told = f"edited {name}.py" if guess == text else lacks
        messages += called("replace", {"path": f"{name}.py", "old": guess, "text": right}, told)
    return {"messages": [*messages, {"role": "assistant", "content": "Done."}]}


def called(name, arguments, told):
    function = {"name": name, "arguments": arguments}
    call = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
    return [call, {"role": "tool", "content": told}]


def write(name, rows):
    (PIPELINE / name).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def main():
    rng = random.Random(SEED)
    programs = rng.sample([(name, number) for name in OPERATORS for number in range(100, 1000)], TRAINING + HELD_OUT)
    broken = [(name, number, wrong(name, number, rng)) for name, number in programs]
    training, held_out = broken[:TRAINING], broken[TRAINING:]
    PIPELINE.mkdir(exist_ok=True)
    write("train.jsonl", [task(*one) for one in training])
    write("held-out.jsonl", [task(*one) for one in held_out])
    write("demonstrations.jsonl", [demonstration(*one, rng) for one in training])


if __name__ == "__main__":
    main()
