import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contracts/json.ts";
import type { ResolvedLoop, ResolvedPlugin } from "../../../../src/contracts/plan.ts";
import { changeRun } from "../../../../src/control/supervision/change-run.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { planRow } from "../../../../src/run/store/keys.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const runs = temporaryFolder();
const ours = join(import.meta.dirname, "../../../../plugins");
const theirs = temporaryFolder();
const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: true, evaluationEvery: 1 });

/** A loop as an earlier release recorded it. */
function loopAt(folder: string, name: string, config: JsonObject): ResolvedLoop {
  const path = join(folder, name);
  const workflow = join(path, "workflow.ts");
  return { ...plan.loop, name, folder: path, entry: workflow, workflow, config };
}

/** What the run's plan is when the run is opened. */
async function reopened(changes: Partial<typeof plan>) {
  const run = await createRunFolder({ ...plan, ...changes }, { runs });
  return (await openRunFolder(runs, run)).plan;
}

test("a run whose loop was merged into another one finds it there, under the name that it has in the run", async () => {
  const config = { user: "user", maxTurns: 30 };
  const loop = loopAt(ours, "loop-simulated-user", config);
  const moved = { ...loopAt(ours, "loop-interaction", config), name: "loop-simulated-user" };
  const found = await reopened({ loop, loops: { talk: loop } });
  expect(found.loop).toEqual(moved);
  expect(found.loops).toEqual({ talk: moved });
});

test("a change of the plan records where the plugin is now", async () => {
  const loop = loopAt(ours, "loop-simulated-user", { user: "user", maxTurns: 30 });
  const run = await openRunFolder(runs, await createRunFolder({ ...plan, loop }, { runs }));
  await changeRun(run, ["steps=2"]);
  const { workflow } = loopAt(ours, "loop-interaction", {});
  expect(await run.store.read(planRow(2))).toMatchObject({ steps: 2, loop: { name: loop.name, workflow } });
});

test("a plugin that an alias replaces gets what the alias presets", async () => {
  const folder = join(theirs, "policy-served");
  mkdirSync(folder);
  const aliases = [{ name: "policy-old", preset: { server: "old" } }];
  writeFileSync(join(folder, "everturn.plugin.json"), JSON.stringify({ entry: "./index.js", aliases }));
  const gone = join(theirs, "policy-old");
  const policy: ResolvedPlugin = {
    ...plan.policy,
    name: "policy-old",
    folder: gone,
    entry: join(gone, "index.js"),
    config: { urls: ["http://127.0.0.1"] },
  };
  expect((await reopened({ policy })).policy).toEqual({
    ...policy,
    folder,
    entry: join(folder, "index.js"),
    config: { urls: ["http://127.0.0.1"], server: "old" },
  });
});

test("a plugin that is gone without a replacement, and one that is there, stay as the plan has them", async () => {
  const gone = loopAt(ours, "loop-of-nobody", {});
  const there = loopAt(ours, "loop-interaction", { attempts: 2 });
  expect(await reopened({ loop: gone, loops: { there } })).toEqual({ ...plan, loop: gone, loops: { there } });
});
