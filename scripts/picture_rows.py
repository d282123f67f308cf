"""Rows of the examples whose policies look at pictures: look and zoom."""

import json


def zoomed(box, corners, answered=""):
    """The messages of a call that zooms to a box, a share of the picture, and of the tool's answer in pixels."""
    function = {"name": "zoom", "arguments": {"bbox_2d": list(box)}}
    call = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
    x1, y1, x2, y2 = corners
    told = f"Zoomed in on image 1 to the region [{x1}, {y1}, {x2}, {y2}].\n[image 2: {x2 - x1}×{y2 - y1} png]{answered}"
    return [call, {"role": "tool", "content": told}]


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" for row in rows))


def write_sets(folder, rng, training, held_out, task):
    """Writes the tasks for training and evaluation, each set in random order."""
    rng.shuffle(training)
    rng.shuffle(held_out)
    write_rows(folder / "train.jsonl", [task(*one) for one in training])
    write_rows(folder / "held-out.jsonl", [task(*one) for one in held_out])
