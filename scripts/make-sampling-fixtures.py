"""Writes tests/fixtures/families/greedy.json: greedy continuations of the models of make-family-fixtures.py.

For each family 32 prompts of unequal lengths (some longer than a block of the sampler, all longer than the windows),
each run by itself by transformers' generate, with the log-probabilities of what it chose. Prompts after which two
tokens are nearly as likely are left out, as float32 may order them either way.
Needs the packages of scripts/requirements-fixtures.txt. Run from the repository's root after make-family-fixtures.py:
python scripts/make-sampling-fixtures.py
"""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM

FOLDER = Path("tests/fixtures/families")
NAMES = ["llama", "smollm2", "mistral", "qwen2", "qwen3", "gemma"]
POSITIONS, PROMPTS, NEW, GAP = 256, 32, 16, 1e-3


def load(name):
    summary = json.loads((FOLDER / f"{name}.json").read_text())["config"]
    config = AutoConfig.for_model(**(summary | {"max_position_embeddings": POSITIONS}))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    tensors = load_file(FOLDER / f"{name}.safetensors")
    own = {key: value for key, value in tensors.items() if not key.startswith(("gradient.", "logits."))}
    missing, unexpected = model.load_state_dict(own, strict=False)
    assert not unexpected and all("lm_head" in key for key in missing), (missing, unexpected)
    model.tie_weights()
    model.generation_config.eos_token_id = None
    return model.eval()


def greedy(model, prompt):
    with torch.no_grad():
        out = model.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=NEW,
            do_sample=False,
            pad_token_id=0,
            output_logits=True,
            return_dict_in_generate=True,
        )
    logits = torch.cat(out.logits)
    best = logits.topk(2).values
    tokens = out.sequences[0, len(prompt) :]
    logprobs = logits.log_softmax(-1).gather(-1, tokens[:, None])[:, 0]
    gap = (best[:, 0] - best[:, 1]).min().item()
    return {"prompt": prompt, "tokens": tokens.tolist(), "logprobs": [round(x, 6) for x in logprobs.tolist()]}, gap


def cases(model):
    found = []
    while len(found) < PROMPTS:
        length = int(torch.randint(1, 24, ()) if len(found) % 4 else torch.randint(60, 200, ()))
        case, gap = greedy(model, torch.randint(3, model.config.vocab_size, (length,)).tolist())
        if gap > GAP:
            found.append(case)
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(5)
    result = {name: cases(load(name)) for name in NAMES}
    text = json.dumps({"positions": POSITIONS, "families": result}, separators=(",", ":"))
    (FOLDER / "greedy.json").write_text(text + "\n")
