"""PyTorch's side of benchmarks/gpu.ts, on a CUDA card: the updates of peers/train.py, or greedy generation.

    python gpu.py train|generate FOLDER COUNT float32|tf32|bfloat16 [--compile]

Prints one line of JSON: milliseconds of each update (each generation), and what it computed. To train in bfloat16 is
autocast over float32 weights; to generate, the weights are bfloat16. With --compile, generation has a static cache, and is
compiled.
"""

import argparse
import contextlib
import json
import time
from pathlib import Path

import torch
from train import load_batch, load_model, loss_of


def timed(count, work):
    """Milliseconds of each call after two that warm up, the card's work included; and what the first call gave."""
    first = work()
    work()
    torch.cuda.synchronize()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - start))
    return times, first


def train(folder, count, context):
    lora = json.loads(path.read_text()) if (path := folder / "lora.json").exists() else None
    model = load_model(folder, lora).cuda()
    batch = {name: table.cuda() for name, table in load_batch(folder / "batch.json").items()}
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5, weight_decay=0.01, fused=True)

    def update():
        with context():
            loss = loss_of(model, batch, "loss")
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss, norm

    times, (loss, norm) = timed(count, update)
    return {"milliseconds": times, "loss": loss.item(), "gradientNorm": norm.item()}


def generate(folder, count, half, compiled):
    """64 tokens after the first 64 of each sequence, greedily."""
    model = load_model(folder, None).to("cuda", torch.bfloat16 if half else torch.float32).eval()
    prompts = torch.stack([row[:64] for row in load_batch(folder / "batch.json")["tokens"]]).cuda()
    settings = {"max_new_tokens": 64, "min_new_tokens": 64, "do_sample": False, "pad_token_id": 0}

    if compiled:
        settings["cache_implementation"] = "static"

    def run():
        with torch.inference_mode():
            return model.generate(prompts, attention_mask=torch.ones_like(prompts), **settings)

    times, tokens = timed(count, run)
    return {"milliseconds": times, "tokens": tokens[:, 64:].tolist()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["train", "generate"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("precision", choices=["float32", "tf32", "bfloat16"])
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = options.precision == "tf32"
    half = options.precision == "bfloat16"
    context = (lambda: torch.autocast("cuda", torch.bfloat16)) if half else contextlib.nullcontext
    if options.what == "train":
        result = train(options.folder, options.count, context)
    else:
        result = generate(options.folder, options.count, half, options.compile)
    print(json.dumps({**result, "card": torch.cuda.get_device_name()}))


if __name__ == "__main__":
    main()
