"""Writes tests/fixtures/published/read.json: what transformers reads in the config.json of published models beside it.

Of each: how many parameters it has, the SHA-256 of their names and shapes, which layers see a window or have no RoPE, and
RoPE's frequencies. No weights are made. The files beside it are the models' config.json as their authors
published them on Hugging Face, written down from memory and not downloaded: replace one by the published file where they differ.
Needs the packages of scripts/requirements-fixtures.txt.
Run from the repository's root: python scripts/make-published-fixtures.py
"""

import hashlib
import json
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM

FOLDER = Path("tests/fixtures/published")


def on_disk(name, shape):
    """transformers keeps a layer's experts in two tensors, and each by itself in files."""
    if not name.endswith((".experts.gate_up_proj", ".experts.down_proj")):
        return [(name, shape)]
    parent, module = name.rsplit(".", 1)
    count, rows, columns = shape
    parts = {"gate_proj": rows // 2, "up_proj": rows // 2} if module == "gate_up_proj" else {module: rows}
    return [(f"{parent}.{at}.{part}.weight", [size, columns]) for at in range(count) for part, size in parts.items()]


def rotation(rotary, kind=""):
    return {
        "frequencies": getattr(rotary, f"{kind}inv_freq").tolist(),
        "scale": getattr(rotary, f"{kind}attention_scaling"),
    }


def read(path):
    config = AutoConfig.for_model(**json.loads(path.read_text()))
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    shapes = [pair for name, tensor in model.named_parameters() for pair in on_disk(name, list(tensor.shape))]
    lines = sorted(f"{name} {shape}" for name, shape in shapes)
    rotary = type(model.model.rotary_emb)(config)
    kinds = [f"{kind}_" for kind in getattr(rotary, "layer_types", [])]
    windows = [getattr(layer.self_attn, "sliding_window", None) for layer in model.model.layers]
    return {
        "parameters": sum(tensor.numel() for tensor in model.parameters()),
        "shapes": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
        "windows": windows,
        "rotated": [getattr(layer.self_attn, "use_rope", 1) for layer in model.model.layers],
        "scaling": model.model.layers[0].self_attn.scaling,
        "epsilon": config.rms_norm_eps,
        "rotations": {kind: rotation(rotary, kind) for kind in kinds} or {"": rotation(rotary)},
    }


if __name__ == "__main__":
    paths = [path for path in sorted(FOLDER.glob("*.json")) if path.name != "read.json"]
    lines = [f"{json.dumps(path.stem)}: {json.dumps(read(path))}" for path in paths]
    (FOLDER / "read.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
