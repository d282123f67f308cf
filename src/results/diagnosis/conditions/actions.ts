import { percent } from "../../../base/text/format.ts";
import type { StepRecord } from "../../../contracts/generated/step-record.ts";
import { type Condition, isOnRollouts, lastStep, lastSteps } from "../condition.ts";

/** Whether a condition on the actions of two steps in a row may matter: a policy that solves its tasks need not change. */
const isUnsolved = ({ successRate = 0 }: StepRecord) => successRate < 0.9;

const mostCut = 0.3;

export const cutActions: Condition = {
  title: "Limits cut many actions",
  when: `In two steps in a row, rollout.maxActionTokens or the context ended at least ${percent(mostCut, 0)} of the actions.`,
  consequence:
    "A cut action has no answer and no complete tool call, so it earns nothing whatever it would have said.",
  remedies: [
    "Raise `rollout.maxActionTokens`, and the policy's context if it ends there.",
    "If the model does not stop: check that its chat template ends messages with a token that the tokenizer knows as an end.",
    "Shorten prompts and observations (`rollout.observations`), or penalize length (`trainer.config.overlongMaximum`).",
  ],
  find: (evidence) => {
    const isSo = (record: StepRecord) => (record.cutActionShare ?? 0) >= mostCut && isUnsolved(record);
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    const limit = evidence.plan.rollout.maxActionTokens;
    return `${percent(lastStep(evidence).cutActionShare ?? 0, 0)} of the actions were cut; rollout.maxActionTokens is ${limit}`;
  },
};

export const limitedTrajectories: Condition = {
  title: "Limits end most trajectories",
  when: "In two steps in a row, limits of turns, tokens, time or invalid calls ended at least 80 % of the trajectories, and at most 20 % were solved.",
  consequence: "Most trajectories never reach an answer, so their rewards say little about the policy.",
  remedies: [
    "Raise `rollout.limits` (turns, tokens, time), or give the policy a tool that ends a trajectory.",
    "Read a few trajectories: a policy that repeats the same call needs a warm start or clearer observations.",
  ],
  find: (evidence) => {
    const isSo = ({ limitedShare = 0, successRate = 0 }: StepRecord) =>
      limitedShare >= 0.8 && successRate <= 0.2;
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return `limits ended ${percent(lastStep(evidence).limitedShare ?? 0, 0)} of the trajectories`;
  },
};

export const unreadableCalls: Condition = {
  title: "Many tool calls cannot be read",
  when: "In two steps in a row, at least half of the tool calls could not be read.",
  consequence: "The tools never run for these calls. The policy only sees error messages.",
  remedies: [
    "Check that `rollout.format` is the format in which the model was trained to write calls (`npx everturn template MODEL`).",
    "Warm-start on demonstrations with tool calls.",
    "Let the sampler write only readable calls: `policy.config.constrainCalls`.",
  ],
  find: (evidence) => {
    const isSo = (record: StepRecord) => (record.unreadableCallRate ?? 0) >= 0.5 && isUnsolved(record);
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return `${percent(lastStep(evidence).unreadableCallRate ?? 0, 0)} of the tool calls cannot be read`;
  },
};

export const invalidCalls: Condition = {
  title: "Most tool calls are invalid",
  when: "In two steps in a row, at most 30 % of the tool calls were valid, and most of them could be read.",
  consequence: "The policy calls tools that do not exist, or with arguments that do not fit.",
  remedies: [
    "Check that the prompt shows the tools: `npx everturn explain PIPELINE` prints it.",
    "Make names and parameters simpler, and describe each parameter.",
    "Warm-start on demonstrations with valid calls.",
  ],
  find: (evidence) => {
    const isSo = (record: StepRecord) =>
      (record.validCallRate ?? 1) <= 0.3 && (record.unreadableCallRate ?? 0) < 0.5 && isUnsolved(record);
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return `${percent(lastStep(evidence).validCallRate ?? 1, 0)} of the tool calls are valid`;
  },
};

export const noToolCalls: Condition = {
  title: "The policy calls no tool",
  when: "The policy is offered tools, and in two steps in a row no trajectory called one, readable or not, while fewer than half were solved.",
  consequence: "Reinforcement learning cannot reinforce a call that never happens.",
  remedies: [
    "Check that the prompt shows the tools: `npx everturn explain PIPELINE` prints it. If not, use another chat template (`policy.config.chatTemplate`).",
    "Warm-start on demonstrations with tool calls.",
    "Ask for the tool in the system prompt.",
  ],
  find: (evidence) => {
    if (evidence.plan.tools.length === 0) return undefined;
    const isSo = (record: StepRecord) =>
      isOnRollouts(record) &&
      record.toolCallRate === 0 &&
      (record.unreadableCallRate ?? 0) === 0 &&
      (record.successRate ?? 0) < 0.5;
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return "no trajectory of the last two steps called a tool";
  },
};
