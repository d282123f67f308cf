import { counted, number, percent } from "../../../base/text/format.ts";
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

const muchEntropy = 3.5;

export const randomActions: Condition = {
  title: "The policy writes at random",
  when: `In two steps in a row, the entropy was above ${muchEntropy} nats per token, which is a choice among more than ${Math.floor(Math.exp(muchEntropy))} equally likely tokens, and at most 20 % of the trajectories were solved.`,
  consequence: "Random text contains hardly any calls or answers, so hardly anything is rewarded.",
  remedies: [
    "If the model has random weights, warm-start it on demonstrations (`warmStart.demonstrations`), for more steps than now.",
    "Lower `rollout.temperature` to 1 or less.",
    "If the entropy rose during the run: lower `trainer.config.learningRate` and `trainer.config.entropyCoefficient`.",
  ],
  find: (evidence) => {
    const isSo = ({ entropy = 0, successRate = 1 }: StepRecord) =>
      entropy > muchEntropy && successRate <= 0.2;
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    const { temperature } = evidence.plan.rollout;
    return `the entropy is ${number(lastStep(evidence).entropy ?? 0)} nats per token; rollout.temperature is ${temperature}`;
  },
};

const leastTemperature = 0.3;

export const greedySampling: Condition = {
  title: "Sampling is nearly greedy",
  when: `rollout.temperature is below ${leastTemperature}, and in two steps in a row at least 80 % of the groups were uniform, while the success rate was below 90 %.`,
  consequence:
    "All trajectories of a task are nearly the same, so nothing better than what the policy does most often can be found.",
  remedies: ["Set `rollout.temperature` to 1, or to 0.7 at least."],
  find: (evidence) => {
    const { temperature } = evidence.plan.rollout;
    const isSo = (record: StepRecord) => (record.uniformGroupShare ?? 0) >= 0.8 && isUnsolved(record);
    if (temperature >= leastTemperature || lastSteps(evidence, 2, isSo) === undefined) return undefined;
    const share = percent(lastStep(evidence).uniformGroupShare ?? 0, 0);
    return `rollout.temperature is ${temperature}; ${share} of the groups are uniform`;
  },
};

/** Observations that the limit cut, per turn: the last turn of a trajectory usually has none. */
function cutObservationRate({ metrics, turns = 1 }: StepRecord): number {
  return (metrics?.cutObservations ?? 0) / Math.max(1, turns);
}

export const cutObservations: Condition = {
  title: "Limits cut many observations",
  when: `In two steps in a row, rollout.observations cut at least ${percent(mostCut, 0)} as many observations as there were turns.`,
  consequence: "The policy does not see the part of a tool's answer that it may need.",
  remedies: [
    "Raise `rollout.observations.characters`, or keep another part (`rollout.observations.cut`).",
    "Let the tool return less: fewer rows, or a summary.",
  ],
  find: (evidence) => {
    const isSo = (record: StepRecord) => cutObservationRate(record) >= mostCut && isUnsolved(record);
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    const { characters } = evidence.plan.rollout.observations;
    return `${number(cutObservationRate(lastStep(evidence)))} observations per turn were cut; rollout.observations.characters is ${characters}`;
  },
};

export const limitedTrajectories: Condition = {
  title: "Limits end many trajectories",
  when: "In two steps in a row, limits of turns, tokens, time or invalid calls ended at least 30 % of the trajectories, at most 20 % were solved, and [cut-actions](#cut-actions) does not hold.",
  consequence: "These trajectories never reach an answer, so their rewards say little about the policy.",
  remedies: [
    "Raise `rollout.limits` (turns, tokens, time), or give the policy a tool that ends a trajectory.",
    "Read a few trajectories: a policy that repeats the same call needs a warm start or clearer observations.",
  ],
  find: (evidence) => {
    if (cutActions.find(evidence) !== undefined) return undefined; // a cut action ends its trajectory
    const isSo = ({ limitedShare = 0, successRate = 0 }: StepRecord) =>
      limitedShare >= 0.3 && successRate <= 0.2;
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
    "Let the sampler write only readable calls: `policy.config.sampling: { toolCalls: constrained }`.",
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

export const sameObservations: Condition = {
  title: "Tools return the same whatever the policy asks",
  when: "In two steps in a row, at least 90 % of eight or more tool calls returned the same text, although their arguments differed.",
  consequence: "The observations tell the policy nothing, so it learns not to call the tools.",
  remedies: [
    "Call the tool yourself with arguments from a trajectory (`npx everturn show TRAJECTORY`).",
    "If the tool reports errors as a result: let it throw, so that the call is retried or the trajectory is left out.",
    "Check that the tool reads its arguments by the names in its parameters.",
  ],
  find: (evidence) => {
    if (cutObservations.find(evidence) !== undefined) return undefined; // the beginnings of texts are often the same
    const isSo = (record: StepRecord) => record.commonObservation !== undefined && isUnsolved(record);
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    const { text = "", share = 0, calls = 0 } = lastStep(evidence).commonObservation ?? {};
    const returned = text.trim() === "" ? "no text" : `“${text}”`;
    return `${percent(share, 0)} of ${counted(calls, "call")} returned ${returned}`;
  },
};

const [leastShown, mostGiven, leastShownCount] = [0.2, 0.25, 24];

/** The number of a step's trajectories that read the right answer. */
function shownCount({ shownAnswerShare = 0, trajectories }: StepRecord): number {
  return shownAnswerShare * trajectories;
}

export const missedAnswers: Condition = {
  title: "The policy reads the right answer but gives another",
  when: `In two steps in a row, a tool returned the ground truth, word for word, to at least ${percent(leastShown, 0)} of the trajectories, in both steps to ${leastShownCount} or more, and at most ${percent(mostGiven, 0)} of these answered with it.`,
  consequence:
    "The policy calls its tools correctly but gains nothing from the calls. It learns nothing from them, or learns not to make them.",
  remedies: [
    "Read a few trajectories (`npx everturn show TRAJECTORY`): which part of the observation does the policy copy?",
    "Warm-start on demonstrations whose answers come from observations like these, for more steps. A model with random weights copies only what demonstrations contain, such as numbers with the same number of digits.",
    "Let the tool return less besides the answer.",
  ],
  find: (evidence) => {
    const last = lastSteps(evidence, 2, ({ shownAnswerShare = 0 }) => shownAnswerShare >= leastShown) ?? [];
    const shown = last.reduce((total, record) => total + shownCount(record), 0);
    const given = last.reduce(
      (total, record) => total + shownCount(record) * (record.givenAnswerShare ?? 0),
      0,
    );
    if (shown < leastShownCount || given > mostGiven * shown) return undefined;
    return `${Math.round(shown)} trajectories of the last two steps read the right answer, and ${Math.round(given)} of these gave it`;
  },
};

export const noToolCalls: Condition = {
  title: "The policy calls no tool",
  when: "The policy is offered tools, and in two steps in a row no trajectory called one, readable or not, while fewer than half were solved and [limited-trajectories](#limited-trajectories) does not hold.",
  consequence: "Reinforcement learning cannot reinforce a call that never happens.",
  remedies: [
    "Check that the prompt shows the tools: `npx everturn explain PIPELINE` prints it. If not, use another chat template (`policy.config.chatTemplate`).",
    "Warm-start on demonstrations with tool calls.",
    "Ask for the tool in the system prompt.",
  ],
  find: (evidence) => {
    const { tools, demonstratedTools = [] } = evidence.plan;
    if (tools.length + demonstratedTools.length === 0) return undefined;
    if (limitedTrajectories.find(evidence) !== undefined) return undefined; // nobody makes the calls of a last turn
    const isSo = (record: StepRecord) =>
      isOnRollouts(record) &&
      record.toolCallRate === 0 &&
      (record.leftOutShare ?? 0) < 0.2 && // a failing tool leaves out those that call it
      (record.unreadableCallRate ?? 0) === 0 &&
      (record.successRate ?? 0) < 0.5;
    if (lastSteps(evidence, 2, isSo) === undefined) return undefined;
    return "no trajectory of the last two steps called a tool";
  },
};
