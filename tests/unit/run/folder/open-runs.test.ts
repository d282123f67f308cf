import { mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeRun } from "../../../../src/control/supervision/change-run.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRuns } from "../../../../src/run/folder/open-runs.ts";
import { planRow } from "../../../../src/run/store/keys.ts";
import { startObjects } from "../../../support/object-store.ts";
import { objectsUrl } from "../../../support/open-objects.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const runs = temporaryFolder();
const plan = samplePlan({ steps: 3, batchSize: 8, tasks: 2, warmStart: true, evaluationEvery: 1 });

test("who has a run open has its newest plan, and the same store: no file's time is asked", async () => {
  const run = await createRunFolder(plan, { runs });
  const open = openRuns(runs);
  const first = await open(run);
  expect(first.plan.steps).toBe(3);
  expect(await changeRun(first, ["steps=3"]), "nothing is other than it was").toBeUndefined();
  expect(await open(run)).toBe(first);
  await changeRun(first, ["steps=5"]);
  const second = await open(run);
  expect(second.plan).toMatchObject({ steps: 5, changes: [{ changed: [{ key: "steps", from: 3, to: 5 }] }] });
  expect(second.store).toBe(first.store);
  await changeRun(first, ["steps=4"]); // who still has the first plan changes the newest one
  expect((await openRuns(runs)(run)).plan.changes?.map(({ changed }) => changed[0]?.to)).toEqual([5, 4]);
  expect((await open(run)).plan.steps).toBe(4);
});

test("a run in another store is asked for a new plan once a second, and by those who need it each time", async () => {
  const place = await startObjects(temporaryFolder());
  if (!("port" in place)) throw new Error("an object store has a port");
  const run = await createRunFolder(plan, { runs, workers: "shared", store: objectsUrl(place.port) });
  const [open, openNewest] = [openRuns(runs), openRuns(runs, 0)];
  const first = await open(run);
  await openNewest(run);
  await changeRun(first, ["steps=5"]);
  expect((await openNewest(run)).plan.steps).toBe(5);
  await expect.poll(async () => (await open(run)).plan.steps, { timeout: 5000 }).toBe(5);
});

test("a run that 0.3 began is refused as such, and not for a broken file", async () => {
  const root = join(runs, "calculator-20261101-120000");
  mkdirSync(root);
  writeFileSync(join(root, "run.json"), JSON.stringify({ address: "127.0.0.1:7233", namespace: "default" }));
  writeFileSync(join(root, "plan.json"), JSON.stringify(plan));
  await expect(openRuns(runs)("calculator-20261101-120000")).rejects.toMatchObject({
    code: "RUN_OF_EARLIER_RELEASE",
    retryable: false,
    message: expect.stringContaining("created by Everturn 0.3 or earlier"),
  });
});

test("a plan that can't be read is refused by its name: no earlier one says what it said", async () => {
  const run = await createRunFolder(plan, { runs });
  const opened = await openRuns(runs)(run);
  await changeRun(opened, ["steps=5"]);
  truncateSync(join(opened.folder.root, planRow(2).path), 50);
  await expect(openRuns(runs)(run)).rejects.toMatchObject({
    code: "RUN_PLAN_LOST",
    params: { file: "plan/2.json" },
  });
});

test("a run whose plan is missing says so, and not that there is no such run", async () => {
  const run = await createRunFolder(plan, { runs });
  rmSync(join(runs, run, planRow(1).path));
  await expect(openRuns(runs)(run)).rejects.toMatchObject({
    code: "RUN_PLAN_LOST",
    message: expect.stringContaining(
      "its plan plan/1.json is missing or damaged. Restore the file from a backup",
    ),
  });
});
