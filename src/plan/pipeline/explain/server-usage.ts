import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { planLoops } from "../../../contracts/plan-loops.ts";
import type { StepSize, TokenPrices, TrainerPlugin } from "../../../contracts/trainer.ts";
import { loadPolicy, loadTrainer } from "../../../plugin/registry/registry.ts";
import type { Preflight } from "../check/preflight.ts";
import type { DerivedNumbers } from "./derived-numbers.ts";

/** Requests to a training server, and tokens. */
export interface Usage {
  requests: number;
  /** Tokens of prompts and of forward passes. */
  prefill: number;
  sample: number;
  /** Tokens of forward and backward passes. */
  train: number;
}

/** A usage with its cost. */
export interface PricedUsage extends Usage {
  /** Absent without prices. */
  cost?: { amount: number; currency: string };
}

/** The usage of a training server by a step, and by a whole run with its warm start and evaluations. */
export interface ServerForecast {
  step: PricedUsage;
  run: PricedUsage;
}

/**
 * Forecasts the usage of a training server. Trajectories have the most tokens that the plan's limits allow, or as many
 * as those of a `measured` step. Returns undefined if no server trains, or if no tokens were counted.
 */
export async function forecastServer(
  plan: Plan,
  { counted }: Pick<Preflight, "counted">,
  numbers: DerivedNumbers,
  measured?: StepRecord,
): Promise<ServerForecast | undefined> {
  const { steps, rollout, warmStart, policy } = plan;
  const plugin = await loadTrainer(plan.trainer);
  if (plugin.usage === undefined || counted === undefined || steps === 0) return undefined;
  const trained = (size: StepSize) => trainingOf(plugin, plan, size);
  const longest = (rows: string) => counted.rows.find(({ name }) => name === rows)?.longest ?? 0;
  const isMeasured = measured?.turns !== undefined;
  const trajectory = isMeasured ? meanTrajectory(measured) : longestTrajectory(plan, counted.room, numbers);
  const { metered } = (await loadPolicy(policy)).traits?.(structuredClone(policy.config)) ?? {};
  const sampled = (count: number) => (metered ? [times(samplingOf(trajectory), count)] : []);
  const rounds = isMeasured ? 1 : (rollout.dynamicSampling?.maxRounds ?? 1);
  const onExamples = isOnExamples(plan);
  const { usage, prices } = trained(onExamples ? exampleStep(plan, longest) : rolloutStep(plan, trajectory));
  const step = sum([usage, ...(onExamples ? [] : sampled(rollout.batchSize * rounds))]);
  const warm = warmStart && {
    of: "demonstrations" as const,
    count: warmStart.batchSize,
    tokens: longest("warmStart.demonstrations"),
    updates: warmStart.steps,
    heldOut: 0,
    hasLossPlugin: false,
  };
  const run = sum([
    times(step, steps),
    ...sampled(numbers.evaluations * numbers.evaluationTasks),
    ...(warm ? [trained(warm).usage] : []),
  ]);
  return { step: withCost(step, prices), run: withCost(run, prices) };
}

/** The lengths of a trajectory, in tokens. */
interface RolloutLengths {
  all: number;
  turns: number;
  /** Together, the contexts of all turns. Each contains everything before its action. */
  contexts: number;
  actions: number;
}

/** The longest trajectory that the limits allow. Observations may have any length. */
function longestTrajectory(
  plan: Plan,
  room: number,
  { longestPrompt: prompt = room, actionTokens }: DerivedNumbers,
): RolloutLengths {
  const ofLoops = planLoops(plan).map(({ config }) => Number(config.maxTurns ?? Number.POSITIVE_INFINITY));
  const limit = Math.min(Math.max(...ofLoops), plan.rollout.limits?.turns ?? Number.POSITIVE_INFINITY);
  const turns = Math.min(limit, room); // each has a token
  const all = turns === 1 ? Math.min(room, prompt + actionTokens) : room;
  return { all, turns, contexts: prompt + (turns - 1) * all, actions: Math.min(turns * actionTokens, all) };
}

/** The mean trajectory of a step, as if contexts grew evenly from turn to turn. */
function meanTrajectory({ tokens, trajectories, turns = 1 }: StepRecord): RolloutLengths {
  const mean = (count: number) => count / Math.max(1, trajectories);
  const [prompt, actions] = [mean(tokens.prompt), mean(tokens.action)];
  const grown = actions + mean(tokens.observation);
  return { all: prompt + grown, turns, contexts: turns * prompt + ((turns - 1) / 2) * grown, actions };
}

function samplingOf({ turns, contexts, actions }: RolloutLengths): Usage {
  return { requests: turns, prefill: contexts, sample: actions, train: 0 };
}

function isOnExamples({ sft, dpo }: Plan): boolean {
  return (dpo ?? sft) !== undefined;
}

function rolloutStep({ rollout, trainer }: Plan, { all }: RolloutLengths): StepSize {
  return {
    of: "trajectories",
    count: rollout.batchSize,
    tokens: all,
    updates: 1,
    heldOut: 0,
    hasLossPlugin: trainer.loss !== undefined,
  };
}

function exampleStep({ sft, dpo }: Plan, longest: (rows: string) => number): StepSize {
  const { batchSize = 0, updates = 0, heldOut = 0 } = dpo ?? sft ?? {};
  const [of, rows] = dpo
    ? (["pairs", "dpo.preferences"] as const)
    : (["demonstrations", "sft.demonstrations"] as const);
  return { of, count: batchSize, tokens: longest(rows), updates, heldOut, hasLossPlugin: false };
}

function trainingOf({ usage }: TrainerPlugin, { trainer }: Plan, size: StepSize) {
  const found = usage?.(structuredClone(trainer.config), size);
  const { requests = 0, prefill = 0, train = 0, prices } = found ?? {};
  return { usage: { requests, prefill, sample: 0, train }, prices };
}

function times({ requests, prefill, sample, train }: Usage, factor: number): Usage {
  return {
    requests: requests * factor,
    prefill: prefill * factor,
    sample: sample * factor,
    train: train * factor,
  };
}

function sum(all: readonly Usage[]): Usage {
  const total = (unit: keyof Usage) => Math.round(all.reduce((so, one) => so + one[unit], 0));
  return {
    requests: total("requests"),
    prefill: total("prefill"),
    sample: total("sample"),
    train: total("train"),
  };
}

function withCost(usage: Usage, prices: TokenPrices | undefined): PricedUsage {
  if (prices === undefined) return usage;
  const { prefill, sample, train, currency } = prices;
  const amount = (usage.prefill * prefill + usage.sample * sample + usage.train * train) / 1e6;
  return { ...usage, cost: { amount, currency } };
}
