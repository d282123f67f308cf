"""Writes tests/fixtures/torch: what PyTorch and transformers compute, for the tests of src/engine/models and src/engine/learning.

Needs the packages of scripts/requirements-fixtures.txt (and safetensors, which transformers brings).
Run from the repository's root: python scripts/make-torch-fixtures.py
"""

import json
from pathlib import Path

import torch
from fixture_models import SHAPE, spread_weights
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM

FOLDER = Path("tests/fixtures/torch")
COMMON = SHAPE | dict(vocab_size=37, max_position_embeddings=32, rope_theta=1000.0)
SETTINGS = dict(
    clipLow=0.1,
    clipHigh=0.2,
    valueClip=0.15,
    valueCoefficient=0.3,
    klCoefficient=0.05,
    entropyCoefficient=0.02,
    gamma=0.97,
    **{"lambda": 0.9},
    gradientClip=0.5,
    weightDecay=0.1,
    betas=[0.8, 0.95],
    learningRate=1e-3,
    warmupSteps=1,
    epochs=3,
    minibatchSize=8,
)
CRITIC_LEARNING_RATE = 4e-3


def random_model(seed, tied=False):
    torch.manual_seed(seed)
    model = LlamaForCausalLM(LlamaConfig(**COMMON, tie_word_embeddings=tied, attn_implementation="eager"))
    spread_weights(model)
    return model


def weights_of(model, prefix=""):
    """Weights by name; a tied head appears once, as in a saved checkpoint."""
    return {prefix + name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def write_logits(tied):
    """Logits of three sequences of unequal length, each run by itself."""
    model = random_model(1 if tied else 2, tied)
    sequences = [torch.randint(COMMON["vocab_size"], (length,)).tolist() for length in (9, 4, 7)]
    tensors = weights_of(model)
    for index, tokens in enumerate(sequences):
        tensors[f"logits.{index}"] = model(torch.tensor([tokens])).logits[0].detach().clone()
    name = "tied" if tied else "untied"
    save_file(tensors, FOLDER / f"llama-{name}.safetensors", {"format": "pt"})
    (FOLDER / f"llama-{name}.json").write_text(
        json.dumps({"config": model.config.to_dict(), "sequences": sequences}) + "\n"
    )


def random_trajectories():
    """Prompt, action, observation, action, … of random lengths; log-probabilities are filled in later."""
    trajectories = []
    for lengths in [(3, 2, 4, 3), (5, 4), (2, 1, 3, 2, 2, 4), (4, 6, 1, 1), (6, 1), (3, 3, 3, 3)]:
        mask = [index % 2 for index, length in enumerate(lengths) for _ in range(length)]
        tokens = torch.randint(COMMON["vocab_size"], (len(mask),)).tolist()
        trajectories.append({"tokens": tokens, "mask": mask, "reward": float(torch.rand(()) > 0.5)})
    return trajectories


def look_at(model, head, trajectory):
    """Log-probability, entropy and value of each action token of one trajectory, unpadded."""
    tokens = torch.tensor(trajectory["tokens"])
    at = torch.tensor([index for index, marked in enumerate(trajectory["mask"]) if marked])
    hidden = model.model(tokens[None]).last_hidden_state[0, at - 1]
    logs = torch.log_softmax(model.lm_head(hidden), -1)
    entropy = -(logs.exp() * logs).sum(-1)
    return logs.gather(-1, tokens[at, None])[:, 0], entropy, head(hidden)[:, 0]


def advantages_of(values, reward):
    """Generalised advantages as the double sum of their definition."""
    gamma, decay = SETTINGS["gamma"], SETTINGS["gamma"] * SETTINGS["lambda"]
    count = len(values)
    rewards = [0.0] * (count - 1) + [reward]
    following = values.tolist()[1:] + [0.0]
    surprises = [rewards[i] + gamma * following[i] - values[i].item() for i in range(count)]
    return torch.tensor([sum(decay ** (j - i) * surprises[j] for j in range(i, count)) for i in range(count)])


def value_loss(values, then):
    near = then["oldValues"] + (values - then["oldValues"]).clamp(-SETTINGS["valueClip"], SETTINGS["valueClip"])
    squares = torch.maximum((values - then["returns"]) ** 2, (near - then["returns"]) ** 2)
    return 0.5 * squares.mean()


def adamw_of(named, learning_rate):
    return torch.optim.AdamW(
        [
            {"params": [p for p in named.values() if p.dim() > 1], "weight_decay": SETTINGS["weightDecay"]},
            {"params": [p for p in named.values() if p.dim() == 1], "weight_decay": 0.0},
        ],
        lr=learning_rate,
        betas=SETTINGS["betas"],
    )


def loss_terms(now, then):
    """PPO's loss over the action tokens of all trajectories."""
    logs, entropy, values = now
    ratio = (logs - then["oldLogProbabilities"]).exp()
    free = ratio * then["advantages"]
    held = ratio.clamp(1 - SETTINGS["clipLow"], 1 + SETTINGS["clipHigh"]) * then["advantages"]
    away = then["referenceLogProbabilities"] - logs
    terms = {
        "policyLoss": -torch.minimum(free, held).mean(),
        "valueLoss": value_loss(values, then),
        "kl": (away.exp() - 1 - away).mean(),
        "approximateKl": (ratio - 1 - ratio.log()).mean(),
        "entropy": entropy.mean(),
        "clipFraction": (held < free).float().mean(),
    }
    terms["loss"] = (
        terms["policyLoss"]
        + SETTINGS["valueCoefficient"] * terms["valueLoss"]
        + SETTINGS["klCoefficient"] * terms["kl"]
        - SETTINGS["entropyCoefficient"] * terms["entropy"]
    )
    return terms


def write_ppo():
    """A PPO step: what is known before it, loss terms and gradients of its first update, weights after three."""
    model, reference = random_model(3), random_model(3)
    head = torch.nn.Linear(COMMON["hidden_size"], 1)
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
        for parameter in head.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.2)
    trajectories = random_trajectories()
    then = {name: [] for name in ("oldLogProbabilities", "referenceLogProbabilities", "oldValues", "raw", "returns")}
    with torch.no_grad():
        for trajectory in trajectories:
            logs, _, values = look_at(model, head, trajectory)
            old = logs + torch.randn_like(logs) * 0.15
            recorded = iter(old.clamp(max=-1e-3).tolist())
            trajectory["logprobs"] = [next(recorded) if marked else 0.0 for marked in trajectory["mask"]]
            then["oldLogProbabilities"].append(old.clamp(max=-1e-3))
            then["referenceLogProbabilities"].append(look_at(reference, head, trajectory)[0])
            then["oldValues"].append(values)
            then["raw"].append(advantages_of(values, trajectory["reward"]))
            then["returns"].append(then["raw"][-1] + values)
    then = {name: torch.cat(parts) for name, parts in then.items()}
    raw = then["raw"]
    then["advantages"] = (raw - raw.mean()) / (raw.var() + 1e-8).sqrt()

    named = dict(model.named_parameters()) | {f"value_head.{n}": p for n, p in head.named_parameters()}
    tensors = {f"then.{name}": value for name, value in then.items()}
    tensors |= {f"before.{name}": parameter.detach().clone() for name, parameter in named.items()}
    tensors |= weights_of(reference, "reference.")
    supervised = -torch.cat([look_at(model, head, trajectory)[0] for trajectory in trajectories]).mean()
    supervised.backward()
    tensors |= {f"supervised.{name}": p.grad.clone() for name, p in model.named_parameters()}
    optimizer = adamw_of(named, SETTINGS["learningRate"])
    updates = []
    for update in range(SETTINGS["epochs"]):
        optimizer.zero_grad()
        now = [torch.cat(parts) for parts in zip(*[look_at(model, head, t) for t in trajectories])]
        terms = loss_terms(now, then)
        terms["loss"].backward()
        if update == 0:
            tensors |= {f"gradient.{name}": parameter.grad.clone() for name, parameter in named.items()}
        norm = torch.nn.utils.clip_grad_norm_(named.values(), SETTINGS["gradientClip"])
        optimizer.step()
        updates.append({name: value.item() for name, value in terms.items()} | {"gradientNorm": norm.item()})
    tensors |= {f"after.{name}": parameter.detach().clone() for name, parameter in named.items()}
    save_file(tensors, FOLDER / "ppo.safetensors", {"format": "pt"})
    summary = {"config": model.config.to_dict(), "settings": SETTINGS, "trajectories": trajectories}
    summary |= {"supervisedLoss": supervised.item(), "updates": updates}
    (FOLDER / "ppo.json").write_text(json.dumps(summary) + "\n")


def write_critic():
    """The same step of a critic that is a model of its own: it begins as the policy of the PPO step does, and learns values alone."""
    known = load_file(FOLDER / "ppo.safetensors")
    trajectories = json.loads((FOLDER / "ppo.json").read_text())["trajectories"]
    then = {name.removeprefix("then."): value for name, value in known.items() if name.startswith("then.")}
    model, head = random_model(3), torch.nn.Linear(COMMON["hidden_size"], 1)
    named = {n: p for n, p in model.named_parameters() if not n.startswith("lm_head")}
    named |= {f"value_head.{n}": p for n, p in head.named_parameters()}
    with torch.no_grad():
        for name, parameter in named.items():
            parameter.copy_(known[f"before.{name}"])
    optimizer = adamw_of(named, CRITIC_LEARNING_RATE)
    tensors, updates = {}, []
    for update in range(SETTINGS["epochs"]):
        optimizer.zero_grad()
        values = torch.cat([look_at(model, head, trajectory)[2] for trajectory in trajectories])
        loss = value_loss(values, then)
        loss.backward()
        if update == 0:
            tensors |= {f"gradient.{name}": parameter.grad.clone() for name, parameter in named.items()}
        norm = torch.nn.utils.clip_grad_norm_(named.values(), SETTINGS["gradientClip"])
        optimizer.step()
        updates.append({"valueLoss": loss.item(), "gradientNorm": norm.item()})
    tensors |= {f"after.{name}": parameter.detach().clone() for name, parameter in named.items()}
    save_file(tensors, FOLDER / "critic.safetensors", {"format": "pt"})
    summary = {"config": model.config.to_dict(), "valueLearningRate": CRITIC_LEARNING_RATE, "updates": updates}
    (FOLDER / "critic.json").write_text(json.dumps(summary) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_logits(tied=True)
    write_logits(tied=False)
    write_ppo()
    write_critic()
