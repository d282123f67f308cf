"""Writes a model of a published shape with random weights, and what transformers says of one batch: see first-loss.ts.

Run from the repository's root: python tests/shapes/first-loss.py qwen2.5-0.5b-instruct FOLDER [LAYERS]
With LAYERS, of the model's first layers alone: for those that are larger than the memory.
"""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM

LENGTHS = [(60, 70), (20, 30, 40, 10)]  # prompt, action, observation, action


def main(name, folder, layers=None):
    settings = json.loads(Path(f"tests/fixtures/published/{name}.json").read_text())
    if layers:
        settings["num_hidden_layers"] = int(layers)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(settings))
    torch.manual_seed(1)
    config = AutoConfig.for_model(**settings)
    with torch.no_grad():
        model = AutoModelForCausalLM.from_config(config, torch_dtype=torch.float32, attn_implementation="eager")
        for key, weight in model.named_parameters():
            # Spread so that rows keep their size, attention looks somewhere, and logits differ.
            if weight.dim() == 1:
                weight.add_(torch.randn_like(weight) * 0.1)
            else:
                weight.normal_(0, 0.05 if "embed" in key else weight.shape[-1] ** -0.5)
        sequences, losses = [], []
        for lengths in LENGTHS:
            mask = [part % 2 for part, length in enumerate(lengths) for _ in range(length)]
            tokens = torch.randint(config.vocab_size, (len(mask),))
            at = torch.tensor([place for place, marked in enumerate(mask) if marked])
            logits = model(tokens[None]).logits[0, at - 1].float()
            losses.append(-torch.log_softmax(logits, -1).gather(-1, tokens[at, None])[:, 0])
            sequences.append({"tokens": tokens.tolist(), "mask": mask})
        model.save_pretrained(folder, max_shard_size="2GB")
        losses = torch.cat(losses)
    summary = {"sequences": sequences, "loss": losses.mean().item(), "losses": losses.tolist()}
    (folder / "loss.json").write_text(json.dumps(summary))
    (folder / "config.json").write_text(json.dumps(settings))  # as published, not as save_pretrained writes it


if __name__ == "__main__":
    torch.set_num_threads(2)
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
