"""Makes the pictures, the tasks and the demonstrations of pipelines/look. Python's standard library is enough.

    python scripts/make-look-example.py && python scripts/make-tokenizer.py look

A picture has a sign with a letter in each corner. The policy sees every image at 32×32 pixels, a tenth of a picture's side, so it can only read a sign that
it zooms to. Some demonstrations guess, some zoom to the whole picture, and the others to the sign that is asked for. Nothing in a task tells which is shown
for it.
"""

import base64
import random
from pathlib import Path

from picture_rows import write_rows, write_sets, zoomed
from written_png import png

PIPELINE = Path(__file__).parent.parent / "pipelines" / "look"
SEED = 1
PICTURES, HELD_OUT = 125, 25
REPEATED = 3  # demonstrations of each task
GUESSES, WHOLE = 0.35, 0.4  # the shares of demonstrations
SIDE, CELL = 320, 4

# Nine dark cells each, so that no letter is darker than another from afar.
LETTERS = {
    "C": "### #.. #.. #.. ###",
    "F": "### #.. ### #.. #..",
    "I": "### .#. .#. .#. ###",
    "K": "#.# ##. #.. ##. #.#",
    "V": "#.# #.# #.# #.# .#.",
    "X": "#.# #.# .#. #.# #.#",
    "Y": "#.# #.# ### .#. .#.",
    "Z": "### ..# .#. #.. ###",
}

# The corners and their signs, in parts of the picture.
PLACES = {
    "upper left": (0.1, 0.1, 0.2, 0.2),
    "upper right": (0.8, 0.1, 0.9, 0.2),
    "lower left": (0.1, 0.8, 0.2, 0.9),
    "lower right": (0.8, 0.8, 0.9, 0.9),
}


class Picture:
    """Pixels in rectangles of one colour."""

    def __init__(self, side):
        self.side = side
        self.pixels = bytearray(3 * side * side)

    def fill(self, left, top, width, height, colour):
        for y in range(top, top + height):
            start = 3 * (y * self.side + left)
            self.pixels[start : start + 3 * width] = bytes(colour) * width

    def part(self, box):
        x1, y1, x2, y2 = region(box)
        rows = (self.pixels[3 * (y * self.side + x1) : 3 * (y * self.side + x2)] for y in range(y1, y2))
        return png(x2 - x1, y2 - y1, b"".join(rows))

    def whole(self):
        return png(self.side, self.side, bytes(self.pixels))


def picture(letters, rng):
    """Coloured rectangles, with a sign for each letter."""
    drawn = Picture(SIDE)
    drawn.fill(0, 0, SIDE, SIDE, colour(rng, 60, 200))
    for _ in range(6):
        width, height = rng.randrange(40, 200), rng.randrange(40, 200)
        drawn.fill(rng.randrange(SIDE - width), rng.randrange(SIDE - height), width, height, colour(rng, 60, 200))
    for (x1, y1, _, _), letter in zip(map(region, PLACES.values()), letters):
        left, top = x1 + rng.randrange(1, 4), y1 + rng.randrange(1, 4)
        drawn.fill(left, top, 28, 28, colour(rng, 200, 256))
        ink = colour(rng, 0, 80)
        for row, cells in enumerate(LETTERS[letter].split()):
            for column, cell in enumerate(cells):
                if cell == "#":
                    drawn.fill(left + 8 + CELL * column, top + 4 + CELL * row, CELL, CELL, ink)
    return drawn


def colour(rng, low, high):
    return [rng.randrange(low, high) for _ in range(3)]


def region(box):
    return [round(share * SIDE) for share in box]


def question(place):
    return {"role": "user", "content": f"<image>Which letter is on the sign in the {place}?"}


def task(shown, place):
    return {
        "data_source": "signs",
        "prompt": [question(place)],
        "images": [shown["name"]],
        "reward_model": {"ground_truth": shown["letters"][place]},
    }


def demonstration(shown, place, rng):
    guess = rng.choice(list(LETTERS))
    how = rng.random()
    if how < GUESSES:
        return {"messages": [question(place), said(guess)], "images": [shown["name"]]}
    if how < GUESSES + WHOLE:
        return zooming(shown, place, (0, 0, 1, 1), shown["name"], guess)
    return zooming(shown, place, PLACES[place], shown["signs"][place], shown["letters"][place])


def zooming(shown, place, box, seen, letter):
    messages = [question(place), *zoomed(box, region(box), "<image>"), said(letter)]
    return {"messages": messages, "images": [shown["name"], seen]}


def said(letter):
    return {"role": "assistant", "content": letter}


def main():
    rng = random.Random(SEED)
    images = PIPELINE / "images"
    images.mkdir(parents=True, exist_ok=True)
    shown = []
    for number in range(1, PICTURES + 1):
        letters = {place: rng.choice(list(LETTERS)) for place in PLACES}
        drawn = picture(letters.values(), rng)
        name = f"{number:03}.png"
        (images / name).write_bytes(drawn.whole())
        signs = {place: f"data:image/png;base64,{base64.b64encode(drawn.part(box)).decode()}" for place, box in PLACES.items()}
        shown.append({"name": name, "letters": letters, "signs": signs})
    training = [(one, place) for one in shown[:-HELD_OUT] for place in PLACES]
    held_out = [(one, place) for one in shown[-HELD_OUT:] for place in PLACES]
    write_sets(PIPELINE, rng, training, held_out, task)
    write_rows(PIPELINE / "demonstrations.jsonl", [demonstration(*one, rng) for one in training * REPEATED])


if __name__ == "__main__":
    main()
