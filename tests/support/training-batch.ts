import type { TrainingTrajectory } from "everturn/engine";

/** The surroundings of a trainer of `trajectories` on a server, which also samples. */
export const surroundings = {
  groupSize: 2,
  batchSize: 4,
  staleness: 0,
  policy: { pretrained: true, restrictions: [], trainers: ["trainer-tinker"] },
};

/** A step's trajectories: four of two tasks, with two actions each. */
export const trajectories: TrainingTrajectory[] = [1, 0, 0.5, 0.25].map((reward, index) => ({
  id: `run/step-0001/task-${index}/0`,
  group: `task-${index % 2}`,
  reward,
  tokens: [5, 6 + index, 9, 4],
  mask: [0, 1, 0, 1],
  logprobs: [0, -5, 0, -5.5],
}));

/** The same, with a third action in the last two. */
export const unevenTrajectories: TrainingTrajectory[] = trajectories.map((one, index) =>
  index < 2
    ? one
    : {
        ...one,
        tokens: [...one.tokens, 7, 8],
        mask: [...one.mask, 1, 0],
        logprobs: [...one.logprobs, -5.2, 0],
      },
);
