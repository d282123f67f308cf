import { join } from "node:path";
import { expect, test } from "vitest";
import { drawTasks } from "../../../../activities/draw-tasks.ts";
import { openRunActivity } from "../../../../activities/open-run.ts";
import { readEndedActivity } from "../../../../activities/read-ended.ts";
import { reserveGroups } from "../../../../activities/reserve-groups.ts";
import { groupPlaces } from "../../../../src/contracts/group-places.ts";
import type { TrainedStep } from "../../../../src/contracts/ledger.ts";
import type { GroupCursor, GroupPlace } from "../../../../src/contracts/rollout.ts";
import type { TrainingProgress } from "../../../../src/contracts/run.ts";
import { evaluationStage, stepStage } from "../../../../src/contracts/stages.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { runTasks } from "../../../../src/plan/tasks/run-tasks.ts";
import { reserve } from "../../../../src/results/ledger/reservations.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { type OpenRun, openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { lastRecordedStep, recordedSteps } from "../../../../src/run/folder/recorded-steps.ts";
import { sweepRun } from "../../../../src/run/folder/sweep.ts";
import type { Backend } from "../../../../src/run/store/backend.ts";
import { evaluationKey, foldedKey, recordedStepKey, trainedStepKey } from "../../../../src/run/store/keys.ts";
import { openStore } from "../../../../src/run/store/open-store.ts";
import { counting } from "../../../support/asked.ts";
import { idleMetrics } from "../../../support/idle-metrics.ts";
import { openBackend } from "../../../support/open-backend.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const runs = temporaryFolder();
const sample = await writeSampleRun({ steps: 1 }, temporaryFolder());
const template = await sample.store.read(recordedStepKey(1));
const evaluation = await sample.store.read(evaluationKey(evaluationStage(1)));
if (template === undefined || evaluation === undefined) throw new Error("the sample run has both");

const tasks = runTasks();

/** Groups of a step, of one trajectory each; the task of group 5 is 5. */
const groups = 2;

async function asynchronousRun(staleness: number): Promise<OpenRun> {
  const plan = samplePlan({
    steps: 2000,
    batchSize: groups,
    tasks: 4,
    warmStart: false,
    evaluationEvery: 10,
  });
  const rollout = { ...plan.rollout, staleness };
  return openRunFolder(runs, await createRunFolder({ ...plan, rollout }, { runs }));
}

function idOf({ id }: OpenRun, number: number): string {
  return `${id}/${stepStage(Math.ceil(number / groups))}/${number}/0`;
}

/** Reserves groups up to `last`, from `first` on. */
async function admit({ store }: OpenRun, first: number, last: number): Promise<void> {
  for (let number = first; number <= last; number++) {
    const group = { task: String(number), samples: [0], number };
    await reserve(store, { stage: stepStage(Math.ceil(number / groups)), groups: [group] });
  }
}

/** A step that trained on these groups; `cursor` tells how far it was then. */
async function commit(
  run: OpenRun,
  step: number,
  { trained, leftOut = [], cursor }: { trained: number[]; leftOut?: number[]; cursor: GroupCursor },
): Promise<void> {
  const record: TrainedStep = {
    step,
    from: step - 1,
    policyVersion: step,
    metrics: idleMetrics,
    seconds: 1,
    cursor,
    trajectories: trained.map((number) => ({
      trajectory: idOf(run, number),
      head: "a",
      reward: 1,
      group: String(number),
    })),
    leftOut: leftOut.map((number) => ({ trajectory: idOf(run, number), reason: "lost" })),
  };
  await run.store.tree(
    trainedStepKey(step),
    async () => {},
    () => record,
  );
}

async function recordStep({ store }: OpenRun, step: number): Promise<void> {
  const counts = { trajectories: groups, trajectoriesSoFar: step * groups };
  await store.record(recordedStepKey(step), { ...template!, step, policyVersion: step, ...counts });
}

/** The same run, how often what keeps it is asked for it, and how many names it lists. */
function countedRun(run: OpenRun): { opened: OpenRun; asked(): number } {
  const { counted, asked } = counting(openBackend({ root: run.folder.root }));
  let listed = 0;
  const page: Backend["page"] = async (...parameters) => {
    const found = await counted.page(...parameters);
    listed += found.paths.length;
    return found;
  };
  const store = openStore({ ...counted, page }, () => {});
  return { opened: { ...run, store }, asked: () => asked() + listed };
}

/** What a training workflow is told that begins anew, and how often the store was asked for it. */
async function resumed(run: OpenRun): Promise<{ progress: TrainingProgress; asked: number }> {
  const { opened, asked } = countedRun(run);
  const { progress } = await openRunActivity(
    async () => opened,
    tasks,
  )({ run: run.id, knowsProgress: false });
  if (progress === undefined) throw new Error("it tells no progress");
  return { progress, asked: asked() };
}

/** Steps before the newest whose commits stand; of those before them there are lines and evaluations, which are more often read. */
const committed = 30;

/** A run in which each step took the groups of its place, and the next step's are under way; all but the last two are folded. */
async function regularRun(steps: number): Promise<OpenRun> {
  const run = await asynchronousRun(1);
  for (let step = 1; step <= steps; step++) {
    await recordStep(run, step);
    if (step % 10 === 0) {
      const name = evaluationStage(step);
      await run.store.record(evaluationKey(name), { ...evaluation!, name, step, policyVersion: step });
    }
    if (step + committed < steps) continue;
    const next = (step + 1) * groups + 1;
    await admit(run, next - groups, next - 1);
    const cursor = { openFrom: step * groups + 1, next };
    await commit(run, step, { trained: [2 * step - 1, 2 * step], cursor });
    if (step + 2 > steps) continue;
    await run.store.tree(
      foldedKey(step),
      async () => {},
      () => ({ trajectories: [] }),
    );
  }
  return run;
}

const early = await regularRun(10);
const late = await regularRun(1000);

test("a run that lost its database costs at step 1,000 what it costs at step 10", async () => {
  const [before, after] = [await resumed(early), await resumed(late)];
  expect(after.progress).toMatchObject({ nextStep: 1001, policyVersion: 1000, trajectories: 2000 });
  expect(after.progress.rollout).toMatchObject({
    nextGroup: 2003,
    open: [{ number: 2001 }, { number: 2002 }],
  });
  expect(after.progress.evaluations.map(({ policyVersion }) => policyVersion)).toEqual([1000]);
  const size = (progress: TrainingProgress) => JSON.stringify(progress).length;
  expect(size(after.progress) - size(before.progress), "bytes that are carried").toBeLessThan(50);
  // The newest step is found by asking for twice as many, then by halves: 7 questions more for each hundredfold.
  expect(after.asked - before.asked, `${before.asked} questions at step 10`).toBeLessThan(20);
});

test("a run that has its database costs at step 1,000 what it costs at step 10: what its command and its workflow read", async () => {
  /** Questions of a command that holds the run, shows it and lets it go, and of a workflow that continues as new. */
  async function costOf(run: OpenRun, step: number) {
    const command = countedRun(run);
    await sweepRun(command.opened);
    const last = await lastRecordedStep(command.opened.store);
    expect(last?.step).toBe(step);
    await recordedSteps(command.opened.store, step - 1);
    const workflow = countedRun(run);
    const open = async () => workflow.opened;
    await openRunActivity(open, tasks)({ run: run.id, knowsProgress: true });
    const ended = [2 * step + 1, 2 * step + 2].map((number) => idOf(run, number));
    await readEndedActivity(open)({ run: run.id, trajectories: ended, policyVersion: step });
    return { command: command.asked(), workflow: workflow.asked() };
  }
  const [before, after] = [await costOf(early, 10), await costOf(late, 1000)];
  expect(after.command - before.command, `${before.command} questions at step 10`).toBeLessThan(40);
  expect(after.workflow).toBe(before.workflow);
});

test("a group that lingers is open, and those after it that steps have used are not", async () => {
  const run = await asynchronousRun(4);
  await admit(run, 1, 9);
  await commit(run, 1, { trained: [1, 2], cursor: { openFrom: 3, next: 7 } });
  await commit(run, 2, { trained: [4, 5], leftOut: [6], cursor: { openFrom: 3, next: 9 } });
  await commit(run, 3, { trained: [7, 9], cursor: { openFrom: 3, next: 10 } });
  for (const step of [1, 2, 3]) await recordStep(run, step);
  const { progress } = await resumed(run);
  expect(progress.rollout?.open.map(({ number }) => number)).toEqual([3, 8]);
  expect(progress.rollout?.nextGroup).toBe(10);
});

test("the groups of a step that was committed and not recorded are open for it, and what it left out is not", async () => {
  const run = await asynchronousRun(1);
  await admit(run, 1, 5);
  await commit(run, 1, { trained: [1, 2], cursor: { openFrom: 3, next: 5 } });
  await recordStep(run, 1);
  await commit(run, 2, { trained: [4, 5], leftOut: [3], cursor: { openFrom: 6, next: 6 } });
  const { progress } = await resumed(run);
  expect(progress.nextStep).toBe(2);
  expect(progress.rollout).toMatchObject({
    nextGroup: 6,
    committed: [4, 5],
    open: [{ number: 4 }, { number: 5 }],
  });
});

test("when no group is open, the next one follows the last that was used", async () => {
  const run = await asynchronousRun(1);
  await admit(run, 1, 2);
  await commit(run, 1, { trained: [1, 2], cursor: { openFrom: 3, next: 3 } });
  await recordStep(run, 1);
  const { progress } = await resumed(run);
  expect(progress.rollout).toEqual({ nextGroup: 3, open: [], leftOut: [] });
});

test("a group whose shard reserved nothing while a later one's did is admitted, by its own task and samples", async () => {
  const pipeline = join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml");
  const overrides = ["rollout.batchSize=16", "rollout.groupSize=4", "rollout.staleness=1"];
  const plan = await loadPlan(pipeline, { overrides: [...overrides, "trainer.config.minibatchSize=16"] });
  const run = await openRunFolder(runs, await createRunFolder(plan, { runs }));
  const open = async () => run;
  const admitted: (GroupPlace & { number: number })[] = [];
  for (const step of [1, 2]) {
    const drawn = await drawTasks(open, tasks)({ run: run.id, step });
    for (const place of groupPlaces(step, drawn, 4)) admitted.push({ ...place, number: admitted.length + 1 });
  }
  const at = (number: number) => admitted[number - 1]!;
  const shard = { run: run.id, source: "training" } as const;
  await reserveGroups(open, tasks)({ ...shard, groups: [at(1), at(2)] });
  await reserveGroups(open, tasks)({ ...shard, groups: [at(4), at(7)] }); // 3, 5 and 6 were about to, when all was lost
  const { progress } = await resumed(run);
  expect(progress.rollout?.open).toEqual(
    admitted.slice(0, 7).map((place) => ({ ...place, policyVersion: 0, isStarted: false, ended: [] })),
  );
  expect(progress.rollout?.nextGroup).toBe(8);
});
