import { join } from "node:path";
import type { StopCondition } from "../../src/contracts/generated/pipeline.ts";
import type { JsonObject, JsonValue } from "../../src/contracts/json.ts";
import type { Expected, PreparedCase } from "./case.ts";

const plugins = join(import.meta.dirname, "plugins");
const calculator = join(import.meta.dirname, "..", "..", "pipelines", "calculator");
const reward = (name: string): JsonObject => ({ plugin: `${join(plugins, "rewards.ts")}#${name}` });
const tool = (name: string): JsonObject => ({ plugin: `${join(plugins, "tools.ts")}#${name}` });
const agent = (module: string, mode = "thread"): JsonObject => ({
  plugin: "loop-agent",
  config: { module: join(plugins, module), maxTurns: 4, mode },
});
const ppo: Record<string, JsonValue> = { "trainer.config.algorithm": "ppo" };

/** Lets a host fail often without a pause, and the run go on without the trajectories. */
const withoutPause = (host: string): Record<string, JsonValue> => ({
  hosts: { [host]: { failures: 1000 } },
  "rollout.maxInfrastructureFailures": 1,
});

/** Steps on demonstrations instead of rollouts. */
const onDemonstrations = (sft: JsonObject): Record<string, JsonValue> => ({
  steps: 3,
  sft: {
    demonstrations: join(calculator, "calls.jsonl"),
    batchSize: 16,
    updates: 3,
    heldOut: 32,
    ...sft,
  },
});

/** The policy's most likely action is a guess. */
const greedy: StopCondition[] = ["no-tool-calls", "never-rewarded", "uniform-groups", "entropy-collapse"];

/** Runs with one cause each of not learning. */
export const preparedCases: readonly PreparedCase[] = [
  // The reward.
  prepared("reward-is-zero", { reward: reward("zero") }, { condition: "never-rewarded" }),
  prepared("reward-is-constant", { reward: reward("half") }, { condition: "constant-rewards" }),
  prepared("reward-expects-another-form", { "reward.config": {} }, { condition: "never-rewarded" }),
  prepared("reward-of-the-task-alone", { reward: reward("taskOnly") }, { condition: "uniform-groups" }),
  prepared(
    "reward-reversed",
    { reward: reward("reversed") },
    { condition: "reward-against-success", companions: ["reward-hacking"] },
  ),
  prepared(
    "reward-of-chance",
    { reward: reward("chance") },
    { condition: "reward-without-success", companions: ["reward-hacking"] },
  ),
  prepared(
    "reward-of-thousands",
    { ...ppo, reward: { plugin: "reward-exact-match", weight: 1000, config: { extract: "last-number" } } },
    { condition: "large-rewards", companions: ["exploding-gradient"] },
  ),
  prepared(
    "reward-fails-on-some-tasks",
    { ...withoutPause("reward-rewards"), reward: reward("fragile") },
    { condition: "many-left-out", companions: ["lost-groups"] },
  ),
  prepared(
    "reward-fails-always",
    { reward: reward("broken") },
    { code: "RUN_FAILED", message: "the judge's key is missing" },
  ),
  prepared(
    "reward-is-not-a-number",
    { reward: reward("notANumber") },
    { code: "RUN_FAILED", message: "must be a number to train on" },
  ),
  prepared(
    "reward-of-a-digit",
    { reward: reward("ones"), "trainer.config.learningRate": 1e-3 },
    { condition: "reward-hacking", companions: ["learning-rate-high", "kl-growth"] },
  ),
  // The policy and its actions.
  prepared(
    "random-weights",
    {},
    {
      condition: "random-actions",
      companions: ["cut-actions", "no-tool-calls", "never-rewarded", "limited-trajectories"],
    },
    { untrained: true },
  ),
  prepared(
    "temperature-of-8",
    { "rollout.temperature": 8 },
    {
      condition: "random-actions",
      companions: [
        "cut-actions",
        "no-tool-calls",
        "never-rewarded",
        "unreadable-calls",
        "learning-rate-high",
      ],
    },
  ),
  prepared(
    "temperature-near-0",
    { "rollout.temperature": 0.02 },
    { condition: "greedy-sampling", companions: greedy },
  ),
  prepared("temperature-0", { "rollout.temperature": 0 }, { code: "WRONG_COMBINATION" }),
  prepared(
    "actions-of-8-tokens",
    { "rollout.maxActionTokens": 8 },
    { condition: "cut-actions", companions: ["never-rewarded", "no-tool-calls", "uniform-groups"] },
  ),
  prepared(
    "actions-of-8-tokens-masked",
    { "rollout.maxActionTokens": 8, "trainer.config.maskTruncated": true },
    {
      condition: "cut-actions",
      companions: [
        "never-rewarded",
        "no-tool-calls",
        "masked-trajectories",
        "uniform-groups",
        "zero-gradient",
      ],
    },
  ),
  prepared(
    "demonstrations-longer-than-actions",
    { warmStart: warmStart(join(calculator, "demonstrations.jsonl")), "rollout.maxActionTokens": 12 },
    { code: "DEMONSTRATED_ACTION_TOO_LONG" },
  ),
  prepared(
    "trajectories-of-a-millisecond",
    { "rollout.limits": { time: "1ms" } },
    { code: "RUN_FAILED", message: "time-limit" },
  ),
  prepared(
    "trajectories-of-one-turn",
    { "loop.config.maxTurns": 1 },
    { condition: "limited-trajectories", companions: ["uniform-groups", "never-rewarded"] },
  ),
  // Tools.
  prepared(
    "tool-renamed",
    { tools: [{ plugin: "tool-calculator", name: "compute" }] },
    { condition: "invalid-calls", companions: ["never-rewarded", "uniform-groups"] },
  ),
  prepared(
    "tool-with-other-parameters",
    { tools: [tool("strict")] },
    { condition: "invalid-calls", companions: ["never-rewarded", "uniform-groups"] },
  ),
  prepared(
    "tool-demonstrated-differently",
    { warmStart: warmStart(join(calculator, "demonstrations.jsonl")), tools: [tool("strict")] },
    { code: "DEMONSTRATED_CALL_INVALID" },
  ),
  prepared(
    "calls-in-another-format",
    { "rollout.format": "qwen3-coder" },
    { condition: "unreadable-calls", companions: ["never-rewarded", "uniform-groups"] },
  ),
  prepared(
    "calls-as-plain-text",
    { "rollout.format": "react" },
    { condition: "no-tool-calls", companions: ["never-rewarded", "uniform-groups"] },
  ),
  prepared(
    "tool-times-out",
    { ...withoutPause("calculator"), tools: [tool("slow")] },
    { condition: "overload", companions: ["lost-groups", "uniform-groups"] },
  ),
  prepared(
    "tool-fails",
    { ...withoutPause("calculator"), tools: [tool("failing")] },
    { condition: "many-left-out", companions: ["lost-groups", "uniform-groups"] },
  ),
  prepared(
    "tool-restarts",
    { hosts: { calculator: { failures: 3, longestPause: "4s" } }, tools: [tool("outage")] },
    { condition: "paused-hosts" },
  ),
  prepared(
    "tool-returns-nothing",
    { tools: [tool("silent")] },
    { condition: "same-observations", companions: ["uniform-groups", "never-rewarded"] },
  ),
  prepared(
    "tool-returns-other-numbers-first",
    { tools: [tool("detailed")] },
    { condition: "missed-answers", companions: ["uniform-groups", "never-rewarded"] },
  ),
  prepared(
    "observations-of-20-characters",
    { tools: [tool("wordy")], "rollout.observations": { characters: 20 } },
    { condition: "cut-observations", companions: ["uniform-groups", "never-rewarded"] },
  ),
  prepared(
    "agent-never-asks-the-policy",
    { loop: agent("agent.ts", "process"), tools: [] },
    { code: "RUN_FAILED", message: "agent" },
  ),
  prepared(
    "agent-tools-not-demonstrated",
    {
      loop: agent("renamed-tool-agent.ts"),
      warmStart: warmStart(join(calculator, "demonstrations.jsonl")),
    },
    {
      condition: "different-tools",
      companions: [
        "no-tool-calls",
        "never-rewarded",
        "uniform-groups",
        "limited-trajectories",
        "same-observations", // the agent answers each call of the other tool with one error
      ],
    },
  ),
  prepared(
    "agent-calls-without-tools",
    {
      loop: agent("renamed-tool-agent.ts"),
      warmStart: warmStart(join(calculator, "demonstrations.jsonl")),
      tools: [],
    },
    { code: "DEMONSTRATED_TOOL_NOT_SHOWN" },
  ),
  // Updates.
  prepared(
    "learning-rate-of-1",
    { "trainer.config.learningRate": 1 },
    {
      condition: "learning-rate-high",
      companions: [
        "reward-collapse",
        "kl-growth",
        "entropy-collapse",
        "cut-actions",
        "no-tool-calls",
        "uniform-groups",
        "random-actions",
        "exploding-gradient",
      ],
    },
  ),
  prepared(
    "learning-rate-of-1e-14",
    { "trainer.config.learningRate": 1e-14 },
    { condition: "learning-rate-low" },
  ),
  prepared(
    "warm-up-longer-than-the-run",
    { "trainer.config.warmupSteps": 1_000_000, "trainer.config.learningRate": 1e-6 },
    { condition: "learning-rate-low" },
  ),
  prepared(
    "loss-of-0",
    { "trainer.loss": { plugin: join(plugins, "loss.ts") }, "trainer.config.klCoefficient": 0 },
    { condition: "zero-gradient" },
  ),
  prepared(
    "values-warm-up-for-the-whole-run",
    { ...ppo, "trainer.config.valueWarmupSteps": 100 },
    { code: "WRONG_COMBINATION" },
  ),
  prepared(
    "value-loss-without-weight",
    { ...ppo, "trainer.config.valueCoefficient": 0 },
    { condition: "dead-value-head" },
  ),
  prepared(
    "gradient-clipped-away",
    { "trainer.config.gradientClip": 1e-12 },
    { condition: "learning-rate-low" },
  ),
  prepared(
    "kl-coefficient-of-100",
    { "trainer.config.klCoefficient": 100 },
    { condition: "strong-kl-penalty" },
  ),
  prepared(
    "entropy-bonus-of-10",
    { "trainer.config.entropyCoefficient": 10, "trainer.config.learningRate": 1e-3 },
    {
      condition: "entropy-growth",
      companions: ["learning-rate-high", "reward-collapse", "cut-actions", "uniform-groups", "kl-growth"],
    },
  ),
  prepared(
    "policy-knows-one-answer",
    { warmStart: { ...warmStart(join(import.meta.dirname, "one-answer.jsonl")), steps: 40 } },
    { condition: "entropy-collapse", companions: ["no-tool-calls", "uniform-groups", "never-rewarded"] },
  ),
  // Examples.
  prepared(
    "examples-at-a-rate-of-1",
    onDemonstrations({ learningRate: 1 }),
    { condition: "learning-rate-high", companions: ["exploding-gradient"] },
    { pipeline: "calculator-sft" },
  ),
  prepared(
    "examples-at-a-rate-of-1e-14",
    onDemonstrations({ learningRate: 1e-14 }),
    { condition: "learning-rate-low" },
    { pipeline: "calculator-sft" },
  ),
  prepared(
    "examples-by-heart",
    onDemonstrations({
      demonstrations: join(import.meta.dirname, "few-demonstrations.jsonl"),
      learningRate: 3e-3,
      batchSize: 8,
      updates: 20,
      heldOut: 24,
    }),
    { condition: "overfitting" },
    { pipeline: "calculator-sft" },
  ),
];

function prepared(
  name: string,
  set: Record<string, JsonValue>,
  expected: Expected,
  more: Pick<PreparedCase, "pipeline" | "untrained"> = {},
): PreparedCase {
  return { name, set, expected, ...more };
}

function warmStart(demonstrations: string): JsonObject {
  return { demonstrations, steps: 10, batchSize: 16, learningRate: 1e-3 };
}
