"""Writes tests/fixtures/optimizer.json: AdamW with moments of 8 bits (arXiv 2110.02861), by its definition, in NumPy.

The codes are those of bitsandbytes' create_dynamic_map, and the nearest one is found by looking at all of them. One rule is
our own: a second moment that isn't zero does not become zero, since the next step would be as long as epsilon lets it.
Run from the repository's root: python scripts/make-optimizer-fixtures.py
"""

import json
from pathlib import Path

import numpy as np

F = np.float32
SIZE, BLOCK, UPDATES = 4355, 256, 3
RATE, DECAY, SCALE, BETAS, EPSILON = 0.01, 0.1, 0.5, (0.9, 0.99), 1e-8


def dynamic_map(signed):
    values = []
    for exponent in range(7):
        items = 2 ** (exponent if signed else exponent + 1) + 1
        boundaries = np.linspace(0.1, 1, items)
        means = 10.0 ** (exponent - 6) * (boundaries[:-1] + boundaries[1:]) / 2
        values += means.tolist() + ((-means).tolist() if signed else [])
    return np.sort(np.array([*values, 0.0, 1.0])).astype(F)


def numbers(seed):
    """Numbers that a test makes too, of sizes that differ a thousandfold; a block of zeros among them."""
    at = np.arange(SIZE)
    parts = ((at * 7919 + seed * 104729) % 65521) / 65521 - 0.5
    return np.where(at // BLOCK == 5, 0.0, parts * 10.0 ** -(at % 4)).astype(F)


def quantize(moment, codes, keeps_nonzero):
    found, scales = [], []
    for start in range(0, SIZE, BLOCK):
        block = moment[start : start + BLOCK]
        scale = np.abs(block).max()
        sizes = block / scale if scale > 0 else block
        nearest = np.abs(sizes[:, None].astype(np.float64) - codes[None].astype(np.float64)).argmin(1)
        if keeps_nonzero:
            nearest = np.where(block > 0, np.maximum(nearest, 1), nearest)
        found += nearest.tolist()
        scales.append(scale)
    return np.array(found), np.array(scales, F)


def dequantize(found, scales, codes):
    return codes[found] * np.repeat(scales, BLOCK)[:SIZE]


signed, unsigned = dynamic_map(True), dynamic_map(False)
parameter = numbers(0)
first = (np.full(SIZE, 127), np.zeros(-(-SIZE // BLOCK), F))
second = (np.zeros(SIZE, int), np.zeros(-(-SIZE // BLOCK), F))
for update in range(1, UPDATES + 1):
    slope = numbers(update) * F(SCALE)
    mean = dequantize(*first, signed) * F(BETAS[0]) + slope * F(1 - BETAS[0])
    square = dequantize(*second, unsigned) * F(BETAS[1]) + slope * slope * F(1 - BETAS[1])
    step = F(RATE / (1 - BETAS[0] ** update))
    size = np.sqrt(square) * F(1 / np.sqrt(1 - BETAS[1] ** update)) + F(EPSILON)
    parameter = parameter * F(1 - RATE * DECAY) - mean * step / size
    first, second = quantize(mean, signed, False), quantize(square, unsigned, True)

Path("tests/fixtures/optimizer.json").write_text(
    json.dumps(
        {
            "signed": [float(f"{value:.7g}") for value in signed],
            "unsigned": [float(f"{value:.7g}") for value in unsigned],
            "parameter": [float(f"{value:.7g}") for value in parameter],
            "first": {"codes": first[0].tolist(), "scales": [float(f"{s:.7g}") for s in first[1]]},
            "second": {"codes": second[0].tolist(), "scales": [float(f"{s:.7g}") for s in second[1]]},
        },
        separators=(",", ":"),
    )
    + "\n"
)
