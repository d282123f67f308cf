"""Makes the pictures, the tasks and the demonstrations of pipelines/zoom. Python's standard library is enough.

    python scripts/make-zoom-example.py && python scripts/make-tokenizer.py zoom

A policy that reads text can't see a picture, but it is told how large the part is that it zooms to. Some demonstrations guess, some zoom to the whole
picture, and the others to the part that is asked for. Nothing in a task tells which is shown for it.
"""

import random
from pathlib import Path

from picture_rows import write_rows, write_sets, zoomed
from written_png import png

PIPELINE = Path(__file__).parent.parent / "pipelines" / "zoom"
SEED = 1
PICTURES, HELD_OUT = 120, 20
REPEATED = 2  # demonstrations of each task
GUESSES, WHOLE = 0.35, 0.4  # the shares of demonstrations
SIZES = range(64, 200, 4)

# A part of a picture, where it is, and whether its width or its height is asked for.
PARTS = [
    ("left half", (0, 0, 0.5, 1), "wide"),
    ("right half", (0.5, 0, 1, 1), "wide"),
    ("upper half", (0, 0, 1, 0.5), "high"),
    ("lower half", (0, 0.5, 1, 1), "high"),
    ("middle", (0.25, 0.25, 0.75, 0.75), "wide"),
    ("middle", (0.25, 0.25, 0.75, 0.75), "high"),
]


def picture(width, height, rng):
    """A PNG: a disc on four colours."""
    colours = [bytes(rng.randrange(40, 240) for _ in range(3)) for _ in range(5)]
    radius = min(width, height) // 3
    pixels = b""
    for y in range(height):
        for x in range(width):
            is_disc = (x - width // 2) ** 2 + (y - height // 2) ** 2 < radius**2
            pixels += colours[4 if is_disc else (2 * y // height) * 2 + 2 * x // width]
    return png(width, height, pixels)


def question(part):
    name, _, asked = part
    return {"role": "user", "content": f"How {asked} is the {name} of the picture?"}


def region(box, size):
    width, height = size
    return [round(share * (width, height)[index % 2]) for index, share in enumerate(box)]


def answer_to(part, size, box):
    x1, y1, x2, y2 = region(box, size)
    return str(x2 - x1 if part[2] == "wide" else y2 - y1)


def task(shown, part):
    name, size = shown
    return {
        "data_source": "pictures",
        "prompt": [question(part)],
        "images": [name],
        "reward_model": {"ground_truth": answer_to(part, size, part[1])},
    }


def demonstration(shown, part, rng):
    _, size = shown
    how = rng.random()
    if how < GUESSES:
        return {"messages": [question(part), said(str(rng.choice(SIZES)))]}
    box = (0, 0, 1, 1) if how < GUESSES + WHOLE else part[1]
    return {"messages": [question(part), *zoomed(box, region(box, size)), said(answer_to(part, size, box))]}


def said(number):
    return {"role": "assistant", "content": f"Answer: {number}"}


def main():
    rng = random.Random(SEED)
    images = PIPELINE / "images"
    images.mkdir(parents=True, exist_ok=True)
    shown = []
    for number in range(1, PICTURES + 1):
        size = (rng.choice(SIZES), rng.choice(SIZES))
        (images / f"{number:03}.png").write_bytes(picture(*size, rng))
        shown.append((f"{number:03}.png", size))
    asked = [(one, part) for one in shown for part in PARTS]
    training, held_out = asked[: -HELD_OUT * len(PARTS)], asked[-HELD_OUT * len(PARTS) :]
    write_sets(PIPELINE, rng, training, held_out, task)
    write_rows(PIPELINE / "demonstrations.jsonl", [demonstration(*one, rng) for one in training * REPEATED])


if __name__ == "__main__":
    main()
