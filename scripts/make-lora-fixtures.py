"""Writes tests/fixtures/torch/lora.*: the loss and the adapter's gradients that PEFT and PyTorch compute, for
tests/unit/engine/learning/lora.test.ts.

Needs the packages of scripts/requirements-fixtures.txt and peft. Run from the repository's root:
python scripts/make-lora-fixtures.py
"""

import json
from pathlib import Path

import torch
from fixture_models import SHAPE, spread_weights
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

FOLDER = Path("tests/fixtures/torch")
LORA = {"rank": 3, "alpha": 5, "targets": ["q_proj", "v_proj", "o_proj", "down_proj"]}


def random_model():
    torch.manual_seed(11)
    config = LlamaConfig(
        **SHAPE,
        vocab_size=29,
        max_position_embeddings=32,
        rope_theta=1000.0,
        tie_word_embeddings=True,
        attn_implementation="eager",
    )
    return LlamaForCausalLM(config)


def main():
    model = random_model()
    spread_weights(model)
    tensors = {f"base.{name}": parameter.detach().clone() for name, parameter in model.named_parameters()}
    settings = LoraConfig(r=LORA["rank"], lora_alpha=LORA["alpha"], target_modules=LORA["targets"])
    adapted = get_peft_model(model, settings)
    adapter = {
        name.removeprefix("base_model.model.").replace(".default.", "."): parameter
        for name, parameter in adapted.named_parameters()
        if parameter.requires_grad
    }
    with torch.no_grad():
        for parameter in adapter.values():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    sequences = []
    losses = []
    for length, start in [(9, 3), (14, 5), (5, 4), (11, 1)]:
        tokens = torch.randint(29, (length,))
        mask = [0] * start + [1] * (length - start)
        sequences.append({"tokens": tokens.tolist(), "mask": mask})
        logs = torch.log_softmax(adapted(tokens[None]).logits[0], -1)
        losses += [-logs[at - 1, tokens[at]] for at in range(length) if mask[at]]
    loss = torch.stack(losses).mean()
    loss.backward()
    tensors |= {f"adapter.{name}": parameter.detach().clone() for name, parameter in adapter.items()}
    tensors |= {f"gradient.{name}": parameter.grad.clone() for name, parameter in adapter.items()}
    save_file(tensors, FOLDER / "lora.safetensors", {"format": "pt"})
    summary = {"config": model.config.to_dict(), "lora": LORA, "sequences": sequences, "loss": loss.item()}
    (FOLDER / "lora.json").write_text(json.dumps(summary) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
