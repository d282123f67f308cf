"""Writes tests/fixtures/algorithms: losses with their gradients, and advantages, by TRL's own functions where they can be
called and by PyTorch formulas written out here elsewhere, on padded batches with masks.

Needs the packages of scripts/requirements-fixtures.txt.
Run from the repository's root: python scripts/make-algorithm-fixtures.py
"""

import json
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.rloo_trainer import RLOOTrainer

FOLDER = Path("tests/fixtures/algorithms")
VOCABULARY = 7
# Lengths of runs of tokens after the prompt: action, observation, action, …
RUNS = [(2, 3, 2), (5,), (1, 1, 1, 2, 3), (4, 2, 1), (3,), (2, 2, 6), (1,), (3, 1, 2)]
GROUPS = ["a", "a", "b", "a", "b", "b", "a", "b"]
REWARDS = [1.0, 0.0, 0.5, 1.0, 0.0, 0.25, 0.75, 1.0]
LENGTH = max(sum(runs) for runs in RUNS)


def padded(rows, fill=0.0):
    """Ragged rows, padded on the right."""
    return torch.tensor([list(row) + [fill] * (LENGTH - len(row)) for row in rows])


TOOL_MASK = padded([[1 - turn % 2 for turn, count in enumerate(runs) for _ in range(count)] for runs in RUNS])
COMPLETION_MASK = padded([[1] * sum(runs) for runs in RUNS])
MASK = TOOL_MASK * COMPLETION_MASK
TURN = padded([[turn // 2 for turn, count in enumerate(runs) for _ in range(count)] for runs in RUNS])


def flat(matrix):
    """The action tokens of a padded tensor, sequence after sequence."""
    return matrix[MASK.bool()]


def rows(matrix):
    """The action tokens of each row of a padded tensor."""
    return [row[mask.bool()] for row, mask in zip(matrix, MASK)]


class Batch:
    """What is known of a batch before an update, padded."""

    def __init__(self):
        torch.manual_seed(5)
        shape = (len(RUNS), LENGTH)
        self.targets = torch.randint(VOCABULARY, shape)
        self.logits = torch.randn(*shape, VOCABULARY)
        now = self.logps(self.logits)
        self.old = (now + torch.randn(shape) * 0.3).clamp(max=-1e-3)
        self.sampled = (self.old + torch.randn(shape) * 0.4).clamp(max=-1e-3)
        self.reference = (now + torch.randn(shape) * 0.4).clamp(max=-1e-3)
        self.advantages = torch.randn(len(RUNS))
        self.token_advantages = torch.randn(shape)
        self.old_values, self.values, self.returns = torch.randn(3, *shape)

    def logps(self, logits):
        return torch.log_softmax(logits, -1).gather(-1, self.targets[..., None])[..., 0]


BATCH = Batch()


def entropies(logits):
    logs = torch.log_softmax(logits, -1)
    return -(logs.exp() * logs).sum(-1)


class Accelerator:
    """One process."""

    num_processes = 1
    sync_gradients = True

    def gather(self, x):
        return x

    def reduce(self, x, reduction):
        return x


def trainer(logits, **settings):
    """As much of a TRL trainer as its loss asks for; its model's logits are given."""
    defaults = dict(
        aux_loss_enabled=False,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        importance_sampling_level="token",
        beta=0.0,
        loss_type="grpo",
        epsilon_low=0.2,
        epsilon_high=0.2,
        use_vllm=False,
        vllm_importance_sampling_correction=False,
        max_completion_length=LENGTH,
        current_gradient_accumulation_steps=1,
        use_adaptive_entropy=False,
        entropy_coef=0.0,
    )
    one = SimpleNamespace(**(defaults | settings))
    one._entropy_bonus_enabled = one.entropy_coef > 0
    one.args = SimpleNamespace(
        delta=settings.get("delta"),
        use_bias_correction_kl=False,
        steps_per_generation=1,
        sapo_temperature_pos=1.0,
        sapo_temperature_neg=1.05,
    )
    one.model = SimpleNamespace(training=True)
    one.accelerator = Accelerator()
    one._metrics = defaultdict(lambda: defaultdict(list))
    one._get_per_token_logps_and_entropies = lambda *_, **__: (BATCH.logps(logits), entropies(logits), None)
    return one


def trl_inputs(importance=None):
    ids = torch.zeros(len(RUNS), 1, dtype=torch.long)
    return {
        "prompt_ids": ids,
        "prompt_mask": ids,
        "completion_ids": BATCH.targets,
        "completion_mask": COMPLETION_MASK,
        "tool_mask": TOOL_MASK,
        "advantages": BATCH.advantages,
        "old_per_token_logps": BATCH.old,
        "ref_per_token_logps": BATCH.reference,
        "importance_sampling_ratio": importance,
        "num_items_in_batch": MASK.sum(),
    }


def trl_grpo(importance=None, **settings):
    def loss(logits):
        use = dict(use_vllm=True, vllm_importance_sampling_correction=True) if importance is not None else {}
        return GRPOTrainer._compute_loss(trainer(logits, **settings, **use), None, trl_inputs(importance))

    return loss


def trl_rloo(logits):
    inputs = trl_inputs() | {"completion_mask": MASK, "old_logps": (BATCH.old * MASK).sum(1)}
    inputs.pop("tool_mask")
    return RLOOTrainer._compute_loss(trainer(logits), None, inputs)


def aggregated(losses, how):
    """verl's agg_loss; its seq-mean-token-sum-norm as Dr. GRPO and TRL have it, a mean over sequences."""
    if how == "token-mean":
        return (losses * MASK).sum() / MASK.sum()
    if how == "sequence-mean":
        return ((losses * MASK).sum(-1) / MASK.sum(-1)).mean()
    return (losses * MASK).sum(-1).mean() / (LENGTH if how == "constant" else 1)


def clipped(logits, advantages, low=0.2, high=0.2, dual=None):
    """verl's vanilla policy loss of each token."""
    ratio = (BATCH.logps(logits) - BATCH.old).clamp(-20, 20).exp()
    losses = torch.maximum(-advantages * ratio, -advantages * ratio.clamp(1 - low, 1 + high))
    if dual is None:
        return losses
    return torch.where(advantages < 0, torch.min(-advantages * dual, losses), losses)


def verl_ppo(how, dual=None):
    return lambda logits: aggregated(clipped(logits, BATCH.token_advantages, 0.1, 0.3, dual), how)


def ppo_with_values(logits):
    """Policy, value and entropy terms of PPO."""
    near = BATCH.old_values + (BATCH.values - BATCH.old_values).clamp(-0.2, 0.2)
    squares = torch.maximum((BATCH.values - BATCH.returns) ** 2, (near - BATCH.returns) ** 2)
    terms = clipped(logits, BATCH.token_advantages) + 0.3 * 0.5 * squares - 0.05 * entropies(logits)
    return aggregated(terms, "sequence-mean")


def with_kl(estimator):
    def loss(logits):
        x = BATCH.reference - BATCH.logps(logits)
        kl = {"k1": -x, "k2": x**2 / 2, "k3": x.exp() - 1 - x}[estimator]
        return aggregated(clipped(logits, BATCH.token_advantages) + 0.1 * kl, "token-mean")

    return loss


def gspo_token(logits):
    """GSPO as verl writes it: gradients through each token's own probability."""
    logps = BATCH.logps(logits)
    mean = ((logps - BATCH.old) * MASK).sum(-1, keepdim=True) / MASK.sum(-1, keepdim=True)
    ratio = (logps - logps.detach() + mean.detach()).exp()
    advantages = BATCH.advantages[:, None]
    losses = torch.maximum(-advantages * ratio, -advantages * ratio.clamp(0.9, 1.1))
    return aggregated(losses, "sequence-mean")


def supervised(logits):
    return -(BATCH.logps(logits) * MASK).sum() / MASK.sum()


def ahead(logits, mean=False):
    """Rows 0 and 1 are a pair, 2 and 3, …: the even ones are chosen."""
    away = ((BATCH.logps(logits) - BATCH.reference) * MASK).sum(-1)
    away = away / MASK.sum(-1) if mean else away
    return away[0::2] - away[1::2]


def dpo(label_smoothing=0.0):
    """As TRL's DPOTrainer, loss_type="sigmoid"."""

    def loss(logits):
        margins = 0.3 * ahead(logits)
        right, wrong = -F.logsigmoid(margins), -F.logsigmoid(-margins)
        return (right * (1 - label_smoothing) + wrong * label_smoothing).mean()

    return loss


def ipo(logits):
    """As TRL's DPOTrainer, loss_type="ipo": log-probabilities are means over tokens."""
    return ((ahead(logits, mean=True) - 1 / (2 * 0.3)) ** 2).mean()


def sapo(logits):
    """A loss that is no built-in one: TRL's soft gate (SAPO), for the plugin of tests/plugins/loss-soft-gate."""
    return trl_grpo(loss_type="sapo")(logits)


def importance(level, how):
    """Weights of trajectories that another policy sampled."""
    ratio = ((BATCH.old - BATCH.sampled) * MASK)
    ratio = (ratio.sum(-1, keepdim=True) if level == "sequence" else ratio).exp()
    if how == "truncate":
        return ratio.clamp(max=1.5)
    return ratio.masked_fill((ratio < 0.5) | (ratio > 1.5), 0)


def token_or_sequence(level, how):
    return trl_grpo(importance(level, how), loss_type="dapo")


GRPO = dict(advantages="sequence")
# Name: settings as TypeScript has them, loss.
LOSSES = {
    "sft": (dict(kind="supervised"), supervised),
    "dpo": (dict(kind="preference", preference=dict(beta=0.3)), dpo()),
    "dpo-smoothed": (dict(kind="preference", preference=dict(beta=0.3, labelSmoothing=0.1)), dpo(0.1)),
    "ipo": (dict(kind="preference", preference=dict(beta=0.3, loss="ipo")), ipo),
    "grpo": (GRPO | dict(aggregation="sequence-mean", kl="k3", klCoefficient=0.04), trl_grpo(beta=0.04)),
    "dr-grpo": (GRPO | dict(aggregation="constant", lengthConstant=LENGTH), trl_grpo(loss_type="dr_grpo")),
    "dapo": (GRPO | dict(aggregation="token-mean", clipHigh=0.28), trl_grpo(loss_type="dapo", epsilon_high=0.28)),
    "bnpo": (GRPO | dict(aggregation="token-mean"), trl_grpo(loss_type="bnpo")),
    "luspo": (GRPO | dict(aggregation="sequence-sum"), trl_grpo(loss_type="luspo")),
    "gspo": (
        GRPO | dict(aggregation="sequence-mean", ratio="sequence", clipLow=0.1, clipHigh=0.1),
        trl_grpo(importance_sampling_level="sequence", epsilon_low=0.1, epsilon_high=0.1),
    ),
    "gspo-verl": (
        GRPO | dict(aggregation="sequence-mean", ratio="sequence", clipLow=0.1, clipHigh=0.1),
        gspo_token,
    ),
    "rloo": (GRPO | dict(aggregation="sequence-mean", ratio="trajectory"), trl_rloo),
    "dual-clip": (GRPO | dict(aggregation="sequence-mean", dualClip=1.4), trl_grpo(delta=1.4)),
    "entropy": (
        GRPO | dict(aggregation="token-mean", entropyCoefficient=0.05),
        trl_grpo(loss_type="dapo", entropy_coef=0.05),
    ),
    "ppo-values": (
        dict(aggregation="sequence-mean", value=dict(coefficient=0.3, clip=0.2), entropyCoefficient=0.05),
        ppo_with_values,
    ),
    "soft-gate": (GRPO | dict(aggregation="sequence-mean", loss="loss-soft-gate"), sapo),
    **{
        f"ppo-{how}": (dict(aggregation=how, clipLow=0.1, clipHigh=0.3, lengthConstant=LENGTH), verl_ppo(how))
        for how in ("token-mean", "sequence-mean", "sequence-sum", "constant")
    },
    "ppo-dual-clip": (
        dict(aggregation="token-mean", clipLow=0.1, clipHigh=0.3, dualClip=1.5),
        verl_ppo("token-mean", 1.5),
    ),
    **{
        f"kl-{one}": (dict(aggregation="token-mean", kl=one, klCoefficient=0.1), with_kl(one))
        for one in ("k1", "k2", "k3")
    },
    **{
        f"{level}-{how}": (
            GRPO | dict(aggregation="token-mean", importanceCorrection=f"{level}-{how}"),
            token_or_sequence(level, how),
        )
        for level in ("token", "sequence")
        for how in ("truncate", "mask")
    },
}


def write_losses():
    """Each loss with its gradient with respect to the logits of the action tokens."""
    tensors = {
        "targets": flat(BATCH.targets).float(),
        "logits": flat(BATCH.logits),
        "oldLogProbabilities": flat(BATCH.old),
        "sampledLogProbabilities": flat(BATCH.sampled),
        "referenceLogProbabilities": flat(BATCH.reference),
        "sequenceAdvantages": flat(BATCH.advantages[:, None].expand_as(MASK)),
        "tokenAdvantages": flat(BATCH.token_advantages),
        "oldValues": flat(BATCH.old_values),
        "values": flat(BATCH.values),
        "returns": flat(BATCH.returns),
    }
    cases = []
    for name, (settings, loss) in LOSSES.items():
        logits = BATCH.logits.clone().requires_grad_()
        value = loss(logits)
        value.backward()
        tensors[f"gradient.{name}"] = flat(logits.grad)
        cases.append({"name": name, "loss": value.item(), "settings": settings})
    counts = [int(count) for count in MASK.sum(-1)]
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, FOLDER / "losses.safetensors")
    (FOLDER / "losses.json").write_text(json.dumps({"counts": counts, "cases": cases}, indent=1) + "\n")


def turn_rewards():
    """A part of each trajectory's reward for each turn but the last."""
    return [[0.1 * (turn + 1) for turn in range((len(runs) - 1) // 2)] + [0.0] for runs in RUNS]


def token_rewards(with_turns, kl=0.0, estimator="k1", overlong=None):
    """Padded rewards: a turn's at its last action token, the rest at the last; less the KL penalty."""
    result = torch.zeros(len(RUNS), LENGTH, dtype=torch.float64)
    for index, runs in enumerate(RUNS):
        rest = REWARDS[index]
        if overlong:
            maximum, buffer, penalty = overlong
            exceed = MASK[index].sum().item() - (maximum - buffer)
            rest += max(-penalty, min(-exceed / buffer * penalty, 0))
        ends = [sum(runs[: turn + 1]) - 1 for turn in range(0, len(runs), 2)]
        if with_turns:
            for end, reward in zip(ends[:-1], turn_rewards()[index]):
                result[index, end] += reward
                rest -= reward
        result[index, ends[-1]] += rest
    x = (BATCH.reference - BATCH.old).double()
    penalties = {"k1": -x, "k2": x**2 / 2, "k3": x.exp() - 1 - x}[estimator]
    return result - kl * penalties * MASK


def gae(rewards, gamma, decay, by_turn=False):
    """verl's loop over padded tensors: where the mask is 0 the value and the sum ahead are carried over."""
    values = BATCH.old_values.double()
    ahead = torch.zeros(len(RUNS), dtype=torch.float64)
    total = torch.zeros(len(RUNS), dtype=torch.float64)
    following = torch.full((len(RUNS),), -1.0)
    advantages = torch.zeros_like(rewards)
    for t in reversed(range(LENGTH)):
        discounts = (following != TURN[:, t]) if by_turn else torch.ones(len(RUNS), dtype=torch.bool)
        g = torch.where(discounts, gamma, 1.0)
        l = torch.where(discounts, decay, 1.0)
        delta = rewards[:, t] + g * ahead - values[:, t]
        step = delta + g * l * total
        acts = MASK[:, t].bool()
        total = torch.where(acts, step, total)
        ahead = torch.where(acts, values[:, t], ahead)
        following = torch.where(acts, TURN[:, t].float(), following)
        advantages[:, t] = total
    return advantages, advantages + values


def turn_gae(rewards, gamma, decay):
    """The definition's double sum, with turns as actions."""
    advantages, returns = torch.zeros_like(rewards), torch.zeros_like(rewards)
    for index in range(len(RUNS)):
        turns = int(TURN[index][MASK[index].bool()].max()) + 1
        at = [(MASK[index].bool()) & (TURN[index] == turn) for turn in range(turns)]
        value = [BATCH.old_values[index][where][0].double() for where in at] + [torch.tensor(0.0)]
        earned = [rewards[index][where].sum() for where in at]
        deltas = [earned[k] + gamma * value[k + 1] - value[k] for k in range(turns)]
        for k in range(turns):
            advantage = sum((gamma * decay) ** (j - k) * deltas[j] for j in range(k, turns))
            advantages[index][at[k]] = advantage
            returns[index][at[k]] = advantage + value[k]
    return advantages, returns


def whitened(advantages):
    """verl's masked_whiten: of the sample, n − 1."""
    numbers = flat(advantages)
    return (advantages - numbers.mean()) * torch.rsqrt(numbers.var() + 1e-8)


def by_group(scores):
    return [torch.stack([s for s, g in zip(scores, GROUPS) if g == group]) for group in GROUPS]


def group_mean(rewards, scale):
    scores = rewards.sum(-1)
    groups = by_group(scores)
    centred = torch.stack([s - g.mean() for s, g in zip(scores, groups)])
    if scale:
        centred = centred / torch.stack([g.std() + 1e-6 for g in groups])
    return centred[:, None].expand_as(rewards)


def leave_one_out(rewards):
    scores = rewards.sum(-1)
    centred = [s - (g.sum() - s) / (len(g) - 1) for s, g in zip(scores, by_group(scores))]
    return torch.stack(centred)[:, None].expand_as(rewards)


def returns_to_go(rewards, gamma):
    result, total = torch.zeros_like(rewards), torch.zeros(len(RUNS), dtype=torch.float64)
    for t in reversed(range(LENGTH)):
        total = torch.where(MASK[:, t].bool(), rewards[:, t] + gamma * total, total)
        result[:, t] = total
    return result


def process_supervision(rewards):
    """GRPO with rewards of turns, normalized over all turns of the group; a token gets the sum from its turn on."""
    earned = [
        [rewards[i][(MASK[i].bool()) & (TURN[i] == turn)].sum() for turn in range((len(runs) + 1) // 2)]
        for i, runs in enumerate(RUNS)
    ]
    advantages = torch.zeros_like(rewards)
    for i in range(len(RUNS)):
        pool = torch.stack([r for j, rs in enumerate(earned) for r in rs if GROUPS[j] == GROUPS[i]])
        normalized = [(r - pool.mean()) / (pool.std() + 1e-6) for r in earned[i]]
        for t in range(LENGTH):
            advantages[i, t] = sum(normalized[int(TURN[i, t]) :]) if MASK[i, t] else 0
    return advantages


def write_advantages():
    """Advantages (and returns) of each estimator, and what goes into them."""
    plain, with_turns = token_rewards(False), token_rewards(True)
    gae_token = gae(with_turns, 0.97, 0.9)
    gae_by_turn = gae(with_turns, 0.9, 0.8, by_turn=True)
    gae_turns = turn_gae(with_turns, 0.9, 0.8)
    long = (8, 4, 0.5)
    cases = {
        "ppo": (
            dict(algorithm="ppo", gamma=0.97, turns=True, **{"lambda": 0.9}),
            whitened(gae_token[0]),
            gae_token[1],
        ),
        "ppo-turn-discount": (
            dict(algorithm="ppo", gamma=0.9, discount="turn", normalization="none", turns=True, **{"lambda": 0.8}),
            *gae_by_turn,
        ),
        "ppo-turns": (
            dict(algorithm="ppo", gamma=0.9, credit="turn", normalization="none", turns=True, **{"lambda": 0.8}),
            *gae_turns,
        ),
        "grpo": (dict(algorithm="grpo", klCoefficient=0), group_mean(plain, True), None),
        "grpo-turns": (
            dict(algorithm="grpo", credit="turn", klCoefficient=0, turns=True),
            process_supervision(with_turns),
            None,
        ),
        "dr-grpo": (dict(algorithm="dr-grpo"), group_mean(plain, False), None),
        "dapo-overlong": (
            dict(algorithm="dapo", overlongMaximum=8, overlongBuffer=4, overlongPenalty=0.5),
            group_mean(token_rewards(False, overlong=long), True),
            None,
        ),
        "rloo": (dict(algorithm="rloo", klCoefficient=0.2), leave_one_out(token_rewards(False, 0.2, "k1")), None),
        "reinforce++": (
            dict(algorithm="reinforce++", klCoefficient=0.2, gamma=0.95),
            whitened(returns_to_go(token_rewards(False, 0.2, "k1"), 0.95)),
            None,
        ),
        "reinforce++-k3": (
            dict(algorithm="reinforce++", klCoefficient=0.2, klEstimator="k3"),
            whitened(returns_to_go(token_rewards(False, 0.2, "k3"), 1.0)),
            None,
        ),
        "reinforce++-baseline": (
            dict(algorithm="reinforce++-baseline", klCoefficient=0),
            whitened(group_mean(plain, False)),
            None,
        ),
        "gspo": (dict(algorithm="gspo"), group_mean(plain, True), None),
    }
    tensors = {"values": flat(BATCH.old_values)}
    for name, (_, advantages, returns) in cases.items():
        tensors[f"advantages.{name}"] = flat(advantages).float()
        if returns is not None:
            tensors[f"returns.{name}"] = flat(returns).float()
    trajectories = [
        {
            "tokens": [0] * (1 + sum(runs)),
            "mask": [0] + [1 - turn % 2 for turn, count in enumerate(runs) for _ in range(count)],
            "logprobs": [0.0] + (BATCH.old[index] * MASK[index])[: sum(runs)].tolist(),
            "reference": BATCH.reference[index][MASK[index].bool()].tolist(),
            "reward": REWARDS[index],
            "turnRewards": turn_rewards()[index],
            "group": GROUPS[index],
        }
        for index, runs in enumerate(RUNS)
    ]
    save_file(tensors, FOLDER / "advantages.safetensors")
    summary = {"trajectories": trajectories, "cases": [{"name": n, "settings": s} for n, (s, _, _) in cases.items()]}
    (FOLDER / "advantages.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_losses()
    write_advantages()
