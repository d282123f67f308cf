"""Loads a policy of Everturn's in transformers and compares tokens and logits with Everturn's own.

    pip install -r scripts/requirements-fixtures.txt
    python scripts/check-transformers.py $(everturn versions RUN 41)
    python scripts/check-transformers.py $(everturn versions RUN 41) exported.gguf

A folder with a LoRA adapter is loaded by PEFT onto its base. With a GGUF file, transformers reads that one, which
`everturn export` made from the folder; it must be float32.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 1e-3
LENGTH = 48


def ours(folder: Path, tokens: list[int]) -> torch.Tensor:
    node = ROOT / "node_modules" / ".bin" / "node"
    command = [node, ROOT / "scripts" / "policy-logits.ts", folder, ",".join(map(str, tokens))]
    return torch.tensor(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


def load(folder: Path, gguf: Path | None):
    adapter = folder / "adapter_config.json"
    if gguf is not None:
        source = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    elif adapter.exists():
        base = json.loads(adapter.read_text())["base_model_name_or_path"]
        source = {"pretrained_model_name_or_path": (folder / base).resolve()}
    else:
        source = {"pretrained_model_name_or_path": folder}
    model, loading = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32, output_loading_info=True)
    if gguf is None and adapter.exists():
        model = PeftModel.from_pretrained(model, folder)
    problems = {kind: sorted(map(str, names)) for kind, names in loading.items() if names}
    return AutoTokenizer.from_pretrained(**source), model, problems


@torch.no_grad()
def main(folder: Path, gguf: Path | None = None) -> int:
    tokenizer, model, problems = load(folder, gguf)
    chat = [{"role": "user", "content": "12 + 34 - 5"}]
    prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
    draw = random.Random(1)
    tokens = prompt + [draw.randrange(len(tokenizer)) for _ in range(LENGTH - len(prompt))]
    theirs = model(torch.tensor([tokens])).logits[0]
    gap = (theirs - ours(folder, tokens)).abs().max().item()
    print(f"{model.__class__.__name__}, {model.num_parameters()} parameters, vocabulary {len(tokenizer)}")
    print(f"missing or unexpected: {problems or 'nothing'}")
    print(f"largest difference of logits over {len(tokens)} positions: {gap:.2e} (at most {TOLERANCE:.0e})")
    return 1 if problems or not gap <= TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
