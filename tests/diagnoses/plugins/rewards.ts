import { createHash } from "node:crypto";
import { defineReward } from "everturn/plugin";

const isRight = (answer: string, truth: string) => /-?\d+(?=\D*$)/.exec(answer)?.[0] === truth;

/** 0 whatever the answer. */
export const zero = defineReward({ score: () => ({ reward: 0, success: false }) });

/** 0.5 whatever the answer. */
export const half = defineReward({
  score: ({ answer, task }) => ({
    reward: 0.5,
    success: isRight(answer, task.reward_model.ground_truth),
  }),
});

/** Pays for wrong answers. */
export const reversed = defineReward({
  score: ({ answer, task }) => {
    const success = isRight(answer, task.reward_model.ground_truth);
    return { reward: success ? 0 : 1, success };
  },
});

/** A score between 0 and 1 that depends on the text of the answer alone, and looks like chance. */
export const chance = defineReward({
  score: ({ answer, task }) => ({
    reward: createHash("sha256").update(answer).digest().readUInt16BE() / 65_535,
    success: isRight(answer, task.reward_model.ground_truth),
  }),
});

/** A different score for each task, and the same for all of its answers. */
export const taskOnly = defineReward({
  score: ({ answer, task }) => {
    const truth = task.reward_model.ground_truth;
    return { reward: (Number(truth) % 10) / 10, success: isRight(answer, truth) };
  },
});

/** Pays for the digit 1, whatever the task. */
export const ones = defineReward({
  score: ({ answer, task }) => ({
    reward: Math.min(10, answer.split("1").length - 1),
    success: isRight(answer, task.reward_model.ground_truth),
  }),
});

/** Fails on the tasks with an odd answer. */
export const fragile = defineReward({
  retry: { maximumAttempts: 1 },
  score: ({ answer, task }) => {
    const truth = task.reward_model.ground_truth;
    if (Number(truth) % 2 !== 0) throw new Error("no rubric for this task");
    const success = isRight(answer, truth);
    return { reward: success ? 1 : 0, success };
  },
});

/** Fails on every task. */
export const broken = defineReward({
  retry: { maximumAttempts: 1 },
  score: () => {
    throw new Error("the judge's key is missing");
  },
});

/** Not a number for wrong answers. */
export const notANumber = defineReward({
  retry: { maximumAttempts: 1 },
  score: () => ({ reward: Number.NaN, success: false }),
});
