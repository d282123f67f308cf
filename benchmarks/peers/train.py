"""PyTorch's side of benchmarks/train.ts and sizes.ts: PPO updates on one ragged batch, padded on the right.

Reads a folder that benchmarks/train.ts wrote (config.json, model.safetensors, batch.json, and adapter.safetensors for
LoRA) and prints one line of JSON: milliseconds and processor seconds of each update, resident memory at its peak and after the imports, loss
and gradient norm of the first update. Needs the packages of benchmarks/requirements.txt.
"""

import argparse
import json
import re
import resource
import time
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--updates", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--head", choices=["all", "loss"], default="all", help="rows that the head projects")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--warm", type=int, default=2, help="updates before those that are measured")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32", help="of a model under an adapter")
    parser.add_argument("--checkpointing", action="store_true")
    return parser.parse_args()


def load_model(folder, lora, dtype=torch.float32):
    config = AutoConfig.from_pretrained(folder)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa", dtype=dtype)
    missing = model.load_state_dict(load_file(folder / "model.safetensors"), strict=False)
    assert not [name for name in missing.missing_keys if name != "lm_head.weight"] and not missing.unexpected_keys
    model.tie_weights()
    model.train()
    if lora is None:
        return model
    from peft import LoraConfig, get_peft_model, set_peft_model_state_dict  # imported before, in main

    settings = LoraConfig(r=lora["rank"], lora_alpha=lora["alpha"], target_modules=lora["targets"], lora_dropout=0.0)
    model = get_peft_model(model, settings)
    result = set_peft_model_state_dict(model, load_file(folder / "adapter.safetensors"))
    assert not result.unexpected_keys
    return model


def padded(rows, length, dtype):
    table = torch.zeros(len(rows), length, dtype=dtype)
    for at, row in enumerate(rows):
        table[at, : len(row)] = torch.tensor(row, dtype=dtype)
    return table


def load_batch(path):
    sequences = json.loads(path.read_text())
    length = max(len(sequence["tokens"]) for sequence in sequences)
    column = lambda name, dtype: padded([sequence[name] for sequence in sequences], length, dtype)
    lengths = torch.tensor([len(sequence["tokens"]) for sequence in sequences])
    return {
        "tokens": column("tokens", torch.long),
        "attention": (torch.arange(length) < lengths[:, None]).long(),
        "mask": column("mask", torch.bool)[:, 1:],
        "logprobs": column("logprobs", torch.float32)[:, 1:],
        "advantages": column("advantages", torch.float32)[:, 1:],
    }


def log_probabilities(model, batch, head):
    """Of the next tokens; TRL's selective_log_softmax for float32."""
    targets = batch["tokens"][:, 1:]
    if head == "loss":
        inner = model.get_base_model() if hasattr(model, "get_base_model") else model
        hidden = inner.model(input_ids=batch["tokens"], attention_mask=batch["attention"], use_cache=False)
        logits, targets = inner.lm_head(hidden.last_hidden_state[:, :-1][batch["mask"]]), targets[batch["mask"]]
        return logits.gather(-1, targets[..., None])[..., 0].float() - torch.logsumexp(logits.float(), -1)
    logits = model(input_ids=batch["tokens"], attention_mask=batch["attention"], use_cache=False).logits[:, :-1]
    selected = logits.gather(-1, targets[..., None])[..., 0]
    return selected - torch.stack([torch.logsumexp(row, -1) for row in logits])


def loss_of(model, batch, head):
    """PPO's clipped loss, the mean over the tokens that carry loss."""
    mask = batch["mask"]
    now = log_probabilities(model, batch, head)
    now = now if head == "loss" else now[mask]
    ratio = (now - batch["logprobs"][mask]).exp()
    advantages = batch["advantages"][mask]
    return -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()


def peak_bytes():
    status = Path("/proc/self/status")  # Linux counts into ru_maxrss what had been the parent's
    if status.exists():
        return 1024 * int(re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE)[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    lora = json.loads(path.read_text()) if (path := options.folder / "lora.json").exists() else None
    if lora is not None:
        import peft  # noqa: F401
    imported = peak_bytes()
    model = load_model(options.folder, lora, getattr(torch, options.dtype))
    if options.checkpointing:
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable({"use_reentrant": False})
    batch = load_batch(options.folder / "batch.json")
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5, weight_decay=0.01, fused=True)
    loss_now = torch.compile(loss_of) if options.compile else loss_of

    def update():
        loss = loss_now(model, batch, options.head)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item(), norm.item()

    results, times, processor = [], [], []
    for count in range(-options.warm, options.updates):
        start, before = time.perf_counter(), time.process_time()
        results.append(update())
        if count >= 0:
            times.append(1000 * (time.perf_counter() - start))
            processor.append(time.process_time() - before)
    loss, norm = results[0]
    answer = {"milliseconds": times, "processorSeconds": processor, "peakBytes": peak_bytes(), "importedBytes": imported}
    print(json.dumps(answer | {"loss": loss, "gradientNorm": norm}))


if __name__ == "__main__":
    main()
