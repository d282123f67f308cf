"""Writes tests/fixtures/families: random tiny models of each family as transformers runs them, for tests of src/engine/models.

Of each model: its config.json, weights, the logits of ragged sequences (each run by itself), and the gradients of the
mean cross entropy of their marked tokens.
Needs the packages of scripts/requirements-fixtures.txt (and safetensors, which transformers brings).
Run from the repository's root: python scripts/make-family-fixtures.py
"""

import json
from pathlib import Path

import torch
from fixture_models import SHAPE, spread_weights
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

FOLDER = Path("tests/fixtures/families")
COMMON = SHAPE | dict(vocab_size=37, head_dim=6, max_position_embeddings=64, tie_word_embeddings=False)
THETA = {"rope_type": "default", "rope_theta": 1000.0}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
YARN = {"rope_type": "yarn", "rope_theta": 1000.0, "factor": 4.0, "original_max_position_embeddings": 16}
LINEAR = {"rope_type": "linear", "rope_theta": 1000.0, "factor": 3.0}
MODELS = {
    "llama": dict(model_type="llama", rope_parameters=LLAMA3, attention_bias=True, mlp_bias=True),
    "smollm2": dict(model_type="llama", rope_parameters=THETA, tie_word_embeddings=True),
    "mistral": dict(model_type="mistral", rope_parameters=THETA, sliding_window=3),
    "qwen2": dict(
        model_type="qwen2",
        head_dim=4,
        rope_parameters=YARN,
        tie_word_embeddings=True,
        use_sliding_window=True,
        sliding_window=4,
        max_window_layers=1,
    ),
    "qwen3": dict(model_type="qwen3", rope_parameters=LINEAR),
    # Without a padding token: PyTorch gives its embedding no gradient, and the sequences may hold it.
    "gemma": dict(model_type="gemma", rope_parameters=THETA, tie_word_embeddings=True, pad_token_id=None),
    "smollm3": dict(
        model_type="smollm3",
        rope_parameters=THETA,
        tie_word_embeddings=True,
        num_hidden_layers=3,
        no_rope_layer_interval=2,
        use_sliding_window=True,
        sliding_window=3,
        pad_token_id=None,
    ),
    "phi3": dict(
        model_type="phi3",
        hidden_size=32,
        head_dim=8,
        max_position_embeddings=64,
        original_max_position_embeddings=16,
        tie_word_embeddings=True,
        pad_token_id=None,
        rope_parameters={
            "rope_type": "longrope",
            "rope_theta": 1000.0,
            "partial_rotary_factor": 0.75,
            "short_factor": [1.0, 1.1, 1.3],
            "long_factor": [1.0, 2.0, 4.0],
        },
    ),
    "gemma2": dict(
        model_type="gemma2",
        rope_parameters=THETA,
        tie_word_embeddings=True,
        pad_token_id=None,
        sliding_window=3,
        query_pre_attn_scalar=9,
        attn_logit_softcapping=4.0,
        final_logit_softcapping=6.0,
    ),
    "gemma3": dict(
        model_type="gemma3_text",
        rope_parameters={"full_attention": LINEAR, "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}},
        tie_word_embeddings=True,
        pad_token_id=None,
        num_hidden_layers=3,
        sliding_window=3,
        sliding_window_pattern=3,
        query_pre_attn_scalar=9,
    ),
    # The second layer is dense; some experts are chosen by no token of a sequence.
    "qwen3_moe": dict(
        model_type="qwen3_moe",
        rope_parameters=THETA,
        num_hidden_layers=3,
        num_experts=6,
        num_experts_per_tok=2,
        moe_intermediate_size=10,
        norm_topk_prob=True,
        mlp_only_layers=[1],
    ),
    # Its norms are of whole rows of queries and keys, and experts have the size of the feed-forward block.
    "olmoe": dict(
        model_type="olmoe",
        rope_parameters=THETA,
        head_dim=SHAPE["hidden_size"] // SHAPE["num_attention_heads"],
        num_experts=6,
        num_experts_per_tok=2,
        pad_token_id=None,
    ),
}


def random_model(seed, settings):
    torch.manual_seed(seed)
    config = AutoConfig.for_model(**(COMMON | settings))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", experts_implementation="eager")
    is_gemma = settings["model_type"].startswith("gemma")  # their norms add 1 themselves
    spread_weights(model, lambda name, _: "norm" in name and not is_gemma)
    return model


def random_sequences():
    """Prompt, action, observation, action of unequal lengths."""
    sequences = []
    for lengths in [(4, 3, 2, 2), (2, 2), (3, 4)]:
        mask = [index % 2 for index, length in enumerate(lengths) for _ in range(length)]
        tokens = torch.randint(COMMON["vocab_size"], (len(mask),)).tolist()
        sequences.append({"tokens": tokens, "mask": mask})
    return sequences


def on_disk(tensors):
    """transformers keeps a layer's experts in two tensors, and each by itself in files."""
    apart = {}
    for name, tensor in tensors.items():
        if not name.endswith((".experts.gate_up_proj", ".experts.down_proj")):
            apart[name] = tensor
            continue
        parent, module = name.rsplit(".", 1)
        for expert, weight in enumerate(tensor):
            parts = zip(("gate_proj", "up_proj"), weight.chunk(2)) if module == "gate_up_proj" else [(module, weight)]
            apart |= {f"{parent}.{expert}.{part}.weight": value.clone() for part, value in parts}
    return apart


def write(seed, name, settings):
    model = random_model(seed, settings)
    sequences = random_sequences()
    tensors = on_disk({key: value.detach().clone() for key, value in model.named_parameters()})
    losses = []
    for index, sequence in enumerate(sequences):
        tokens = torch.tensor(sequence["tokens"])
        logits = model(tokens[None]).logits[0]
        tensors[f"logits.{index}"] = logits.detach().clone()
        at = torch.tensor([place for place, marked in enumerate(sequence["mask"]) if marked])
        losses.append(-torch.log_softmax(logits[at - 1], -1).gather(-1, tokens[at, None]))
    loss = torch.cat(losses).mean()
    loss.backward()
    gradients = on_disk({key: value.grad.clone() for key, value in model.named_parameters()})
    tensors |= {f"gradient.{key}": value for key, value in gradients.items()}
    save_file(tensors, FOLDER / f"{name}.safetensors", {"format": "pt"})
    summary = {"config": model.config.to_dict(), "sequences": sequences, "loss": loss.item()}
    (FOLDER / f"{name}.json").write_text(json.dumps(summary, default=str) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed, (name, settings) in enumerate(MODELS.items()):
        write(seed, name, settings)
