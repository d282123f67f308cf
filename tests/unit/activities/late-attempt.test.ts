import { MockActivityEnvironment } from "@temporalio/testing";
import { expect, test } from "vitest";
import { callTool } from "../../../activities/call-tool.ts";
import { generateTurn } from "../../../activities/generate-turn.ts";
import { readEndedActivity } from "../../../activities/read-ended.ts";
import { scoreTrajectory } from "../../../activities/score-trajectory.ts";
import { settingsOfHost } from "../../../src/plan/pipeline/resolve/host-settings.ts";
import { runTasks } from "../../../src/plan/tasks/run-tasks.ts";
import { reserve } from "../../../src/results/ledger/reservations.ts";
import { readTrainedStep } from "../../../src/results/ledger/trained-steps.ts";
import { rolloutProgress } from "../../../src/results/recovery/rollout-progress.ts";
import { foldSteps } from "../../../src/results/retention/fold-steps.ts";
import { freeRecords } from "../../../src/results/retention/free-records.ts";
import { openRuns } from "../../../src/run/folder/open-runs.ts";
import { turnKey } from "../../../src/run/store/keys.ts";
import { runJournal } from "../../../src/run/trajectory/run-journal.ts";
import { trajectoryOf } from "../../../src/run/trajectory/trajectory-of.ts";
import { openTool } from "../../../src/work/tools/open-tool.ts";
import { createToolHost } from "../../../src/work/tools/tool-host.ts";
import { policyWorker } from "../../../src/work/workers/policy-worker.ts";
import { toolWorker } from "../../../src/work/workers/tool-worker.ts";
import { makeRun } from "../../support/made-run.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const runs = temporaryFolder();
const run = await makeRun(runs, { steps: 3, trajectories: 2, turns: 2, tokens: 8 });
const id = (await readTrainedStep(run, 2))?.trajectories?.[0]?.trajectory ?? "";
const place = { ...trajectoryOf(id), id, step: 2 };
const never = () => {
  throw new Error("it was done again");
};
const [calculator] = run.plan.tools;
if (calculator === undefined) throw new Error("the made run has a tool");
const opened = openTool(
  calculator,
  { plugin: { execute: never }, isLost: () => false, close: async () => {} },
  createToolHost("calculator", settingsOfHost(run.plan, "calculator"), () => {}),
);

/** What a training workflow is told that goes on with trajectories of a step that was recorded and is trained again. */
async function carried() {
  const members = (await readTrainedStep(run, 2))?.trajectories.map(({ trajectory }) => trajectory) ?? [];
  const plan = { ...run.plan, rollout: { ...run.plan.rollout, staleness: 1 } };
  const { open } = await rolloutProgress({ ...run, plan }, runTasks(), { nextStep: 2, policyVersion: 5 });
  const ended = { run: "made", trajectories: members, policyVersion: 5 };
  return {
    summaries: await readEndedActivity(async () => run)(ended),
    versions: open.map(({ number, policyVersion }) => [number, policyVersion]),
  };
}

/** What late attempts at a call, a turn and the score of a trajectory answer, on workers that have nothing in memory. */
async function answers() {
  const { signal } = new AbortController();
  const within = <Answer>(act: () => Promise<Answer>) => new MockActivityEnvironment().run(act);
  const tools = { ...toolWorker(runs, "made"), reward: never };
  const called = { ...tools, tool: async () => opened };
  const policies = { ...policyWorker(openRuns(runs)), policy: never };
  const call = { place, turn: 1, call: 0, arguments: { expression: "1 + 0" } };
  const turn = {
    place,
    turn: 2,
    policyVersion: 1,
    head: null,
    messages: [],
    callsBefore: 1,
    seed: 1,
    tools: [],
    sampling: { temperature: 1, topP: 1, topK: 0, minP: 0, repetitionPenalty: 1, maxTokens: 8 },
  };
  const ended = {
    place,
    source: "training" as const,
    turns: 2,
    calls: 0,
    head: "",
    policyVersion: 1,
    startedAt: 0,
    tokens: { prompt: 8, action: 16, observation: 8 },
    outcome: "answered" as const,
  };
  try {
    return {
      called: await within(() => callTool(called, "calculator")(call, signal, () => {})),
      generated: await within(() => generateTurn(policies, runTasks())(turn, signal, () => {})),
      scored: await within(() => scoreTrajectory(tools, runTasks())(ended, signal, () => {})),
    };
  } finally {
    await tools.close();
  }
}

test("what was done once is not done again by an attempt that comes when its records are in the step's file alone", async () => {
  const groups =
    (await readTrainedStep(run, 2))?.trajectories.map(({ trajectory }) => trajectoryOf(trajectory)) ?? [];
  for (const [index, { stage, task, sample }] of groups.entries()) {
    await reserve(run.store, { stage, round: 2, groups: [{ task, samples: [sample], number: 3 + index }] });
  }
  const before = { ...(await answers()), ...(await carried()) };
  expect(before.summaries).toMatchObject([{ outcome: "answered" }, { outcome: "answered" }]);
  expect(before.versions).toEqual([
    [3, 1],
    [4, 1],
  ]);
  expect(before.called).toMatchObject({ observation: "1" });
  await foldSteps(run, 3);
  await freeRecords(run, 2);
  expect(await run.store.read(turnKey(place, 2))).toBeUndefined();
  expect({ ...(await answers()), ...(await carried()) }).toEqual(before);
});

test("where a record is absent, no step's file is looked into before a step is recorded that may have it", async () => {
  const asked: string[] = [];
  const { store } = run;
  const has: typeof store.has = (key) => {
    asked.push(key.path);
    return store.has(key);
  };
  const readTree: typeof store.readTree = (key) => {
    asked.push(key.tree);
    return store.readTree(key);
  };
  const journal = runJournal({ ...run, store: { ...store, has, readTree } });
  expect(await journal.read(turnKey({ ...place, stage: "step-0004" }, 1))).toBeUndefined();
  expect(await journal.read(turnKey({ ...place, stage: "evaluation-v0001" }, 1))).toBeUndefined();
  expect(asked).toEqual(["steps/4/recorded.json"]);
});
