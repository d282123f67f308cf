"""Writes tests/fixtures/peft/ with PEFT: a LoRA adapter of a tiny random Llama, and that Llama's weights before and
after PEFT merges it.

    pip install -r scripts/requirements-fixtures.txt
    python scripts/make-adapter-fixtures.py

scripts/check-transformers.py does the opposite: PEFT reads what Everturn writes.
"""

import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "peft"
TARGETS = ["q_proj", "v_proj", "down_proj"]


def weights(model) -> dict:
    return {name: value.detach().clone() for name, value in model.state_dict().items() if name != "lm_head.weight"}


def main() -> None:
    torch.manual_seed(7)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=24,
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            tie_word_embeddings=True,
        )
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    save_file(weights(model), FOLDER / "base.safetensors")
    adapted = get_peft_model(
        model, LoraConfig(r=4, lora_alpha=6, lora_dropout=0.05, target_modules=TARGETS, task_type="CAUSAL_LM")
    )
    for name, value in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(value, std=0.5)
    adapted.save_pretrained(FOLDER)
    (FOLDER / "README.md").unlink()
    save_file(weights(adapted.merge_and_unload()), FOLDER / "merged.safetensors")
    for path in FOLDER.iterdir():
        path.chmod(0o644)


if __name__ == "__main__":
    sys.exit(main())
