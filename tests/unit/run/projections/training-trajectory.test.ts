import { expect, test } from "vitest";
import type { Segment } from "../../../../src/contracts/generated/segment.ts";
import { actionSegment } from "../../../../src/run/projections/action-segment.ts";
import { trainingTrajectory } from "../../../../src/run/projections/training-trajectory.ts";

const segments: Segment[] = [
  { previous: null, origin: "prompt", text: "1 + 1 =", tokens: [5, 6] },
  {
    previous: "a",
    origin: "action",
    text: "call",
    tokens: [7, 2],
    logprobs: [-0.5, -0.25],
    policyVersion: 1,
  },
  { previous: "b", origin: "observation", text: "2", tokens: [8] },
  { previous: "c", origin: "action", text: "2", tokens: [9], logprobs: [-0.125], policyVersion: 1 },
];
const oneRow = (row: Segment[]) => ({
  rows: [row],
  actions: row.filter(({ origin }) => origin === "action"),
});
const identity = { id: "run/step-0001/task-00000/0", group: "task-00000", reward: 1 };

test("is trained on exactly what was sampled: loss and log-probabilities on actions alone", () => {
  expect(trainingTrajectory(identity, oneRow(segments), 1)).toEqual({
    ...identity,
    tokens: [5, 6, 7, 2, 8, 9],
    mask: [0, 0, 1, 1, 0, 1],
    logprobs: [0, 0, -0.5, -0.25, 0, -0.125],
  });
});

test("has a reward for each turn that has tokens", () => {
  const turnRewards = [0.25, 0];
  expect(trainingTrajectory({ ...identity, turnRewards }, oneRow(segments), 1).turnRewards).toEqual(
    turnRewards,
  );
  expect(
    trainingTrajectory({ ...identity, turnRewards }, oneRow(segments.slice(0, 3)), 1).turnRewards,
  ).toEqual([0.25]);
});

test("an action without its log-probabilities is not a number, which the trainer refuses", () => {
  const [prompt, action] = segments;
  if (prompt === undefined || action === undefined) throw new Error("no segments");
  const { logprobs: _, ...bare } = action;
  expect(trainingTrajectory(identity, oneRow([prompt, bare]), 1).logprobs).toEqual([
    0,
    0,
    Number.NaN,
    Number.NaN,
  ]);
});

test("ends with the last action: an observation that left no room for another one trains nothing", () => {
  const overflowing = [
    ...segments.slice(0, 2),
    { previous: "b", origin: "observation", text: "long", tokens: [8, 8, 8, 8] },
    { previous: "c", origin: "action", text: "", tokens: [], logprobs: [], policyVersion: 1 },
  ] satisfies Segment[];
  expect(trainingTrajectory(identity, oneRow(overflowing), 1).tokens).toEqual([5, 6, 7, 2]);
  expect(trainingTrajectory(identity, oneRow(segments.slice(0, 1)), 1)).toMatchObject({
    tokens: [],
    mask: [],
    logprobs: [],
  });
});

const withColumns = (columns: Partial<Segment>) =>
  segments.map((segment, at) => (at === 1 ? { ...segment, ...columns } : segment));

test("at another temperature the log-probabilities are those at it", () => {
  const logprobs = [0, 0, -0.75, -0.5, 0, -0.125];
  const tempered = withColumns({ temperedLogprobs: [-0.75, -0.5] });
  expect(trainingTrajectory(identity, oneRow(tempered), 0.8)).toMatchObject({ logprobs });
  expect(trainingTrajectory(identity, oneRow(tempered), 0.8)).not.toHaveProperty("samplingLogprobs");
});

test("what was drawn under restrictions has both log-probabilities: the policy's, and the sampler's own", () => {
  const restricted = withColumns({ samplingLogprobs: [-0.375, -0.125] });
  expect(trainingTrajectory(identity, oneRow(restricted), 1)).toMatchObject({
    logprobs: [0, 0, -0.5, -0.25, 0, -0.125],
    samplingLogprobs: [0, 0, -0.375, -0.125, 0, -0.125],
  });
  const tempered = withColumns({ temperedLogprobs: [-0.75, -0.5], samplingLogprobs: [-0.625, -0.25] });
  expect(trainingTrajectory(identity, oneRow(tempered), 0.8)).toMatchObject({
    logprobs: [0, 0, -0.75, -0.5, 0, -0.125],
    samplingLogprobs: [0, 0, -0.625, -0.25, 0, -0.125],
  });
});

test("rows stand one after the other, and an action that two of them have is trained once", () => {
  const [prompt, call, , answer] = segments;
  if (prompt === undefined || call === undefined || answer === undefined) throw new Error("no segments");
  const other: Segment = { ...answer, previous: "b", tokens: [11, 12], logprobs: [-1, -2] };
  const alone: Segment = { previous: null, origin: "prompt", text: "sum up", tokens: [20] };
  const summary: Segment = { ...answer, previous: "d", tokens: [21], logprobs: [-3] };
  const rows = [
    [alone, summary],
    [prompt, call, other],
    [prompt, call, ...segments.slice(2)],
  ];
  const turnRewards = [1, 2, 3, 4];
  expect(
    trainingTrajectory({ ...identity, turnRewards }, { rows, actions: [call, summary, other, answer] }, 1),
  ).toEqual({
    ...identity,
    tokens: [20, 21, 5, 6, 7, 2, 11, 12, 5, 6, 7, 2, 8, 9],
    mask: [0, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1],
    logprobs: [0, -3, 0, 0, -0.5, -0.25, -1, -2, 0, 0, 0, 0, 0, -0.125],
    rows: [2, 6, 6],
    turnRewards: [2, 1, 3, 4],
  });
});

test("routers' ties stand where their tokens do, in each row, up to its last action", () => {
  const [prompt, call, observation, answer] = segments;
  const told = { ...call!, routerTies: [1, 0, 3, 3, 2, 5] };
  const first = [prompt!, told, observation!, { ...answer!, routerTies: [3, 1, 4, 5, 0, 1] }];
  const other = [
    prompt!,
    told,
    observation!,
    { ...answer!, tokens: [4, 4], logprobs: [-1, -1], routerTies: [4, 0, 2] },
  ];
  const rows = { rows: [first, other], actions: [told, first[3]!, other[3]!] };
  expect(trainingTrajectory(identity, rows, 1)).toMatchObject({
    rows: [6, 7],
    routerTies: [1, 0, 3, 3, 2, 5, 3, 1, 4, 5, 0, 1, 7, 0, 3, 9, 2, 5, 10, 0, 2],
  });
});

test("an action keeps the routers' ties of what was read since the action before", () => {
  const generation = {
    tokens: [7, 8],
    text: "",
    finishReason: "stop" as const,
    logprobs: [-1, -1],
    temperedLogprobs: [-1, -1],
    samplingLogprobs: [-1, -1],
    routerTies: [0, 1, 2, 3, 1, 4, 4, 1, 5, 6, 0, 7],
  };
  const kept = (before: number) =>
    actionSegment(generation, { previous: null, policyVersion: 0, before }, 1).routerTies;
  expect(kept(0)).toEqual(generation.routerTies);
  // the last token before is read in this turn
  expect(kept(4)).toEqual([3, 1, 4, 4, 1, 5, 6, 0, 7]);
  expect(kept(5)).toEqual([4, 1, 5, 6, 0, 7]);
  expect(kept(8)).toBeUndefined();
});
