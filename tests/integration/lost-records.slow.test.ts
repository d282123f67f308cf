import { cpSync, renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { namesInSync } from "../../src/base/files/names-in.ts";
import type { TrainingResult } from "../../src/contracts/run.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { filesOf } from "../../src/run/store/tree.ts";
import { versionKey } from "../../src/run/versions/version-parts.ts";
import { everturn, lastLine } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const whole = join(folder, "whole");
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
let run = "";

/** The sizes and digests of the policy that a version is committed with. */
async function policyOf(runs: string, version: number): Promise<object> {
  const { plan, store } = await openRunFolder(runs, run);
  return filesOf((await store.readTree(versionKey(plan, version)))?.files ?? {}, "policy");
}

/** A copy of the run in a folder of its own, whose `damage` is done in the copy. */
function damaged(name: string, damage: (root: string) => void): string {
  const runs = join(folder, name);
  cpSync(join(whole, run), join(runs, run), { recursive: true });
  damage(join(runs, run));
  return runs;
}

const removeDatabase = (root: string) => {
  for (const name of namesInSync(root)) if (name.startsWith("temporal.db")) rmSync(join(root, name));
};

beforeAll(async () => {
  const first = join(folder, "first");
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", first, "--json");
  expect(code, stderr).toBe(0);
  run = lastLine<TrainingResult & { run: string }>(stdout).run;
  renameSync(first, whole); // where the run was there is none any more, so that its copies may continue
});

describe("a run goes on where a record was lost", () => {
  test.each([
    ["gone", (path: string) => rmSync(path)],
    ["cut", (path: string) => truncateSync(path, 100)],
  ])("the commit of the newest step, %s: the step is made again, bit for bit", async (name, damage) => {
    const runs = damaged(`commit-${name}`, (root) => damage(join(root, "steps/3/trained.json")));
    const before = await everturn("ledger", run, "--runs", runs);
    expect(before.code).toBe(1);
    expect(before.stderr).toContain(
      "steps/3/trained.json is missing or damaged; `npx everturn resume` repeats the step",
    );
    expect(before.stderr).not.toContain("unaccounted");
    const resumed = await everturn("resume", run, "--runs", runs);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect((await everturn("ledger", run, "--runs", runs)).stdout).toContain("The ledger holds.");
    expect(await policyOf(runs, 4)).toEqual(await policyOf(whole, 4));
  });

  test("version 0: it is built again, the same, and the next step is made", async () => {
    const runs = damaged("initial", (root) => rmSync(join(root, "initial.json")));
    const { code, stderr } = await everturn("resume", run, "--runs", runs, "--set", "steps=4");
    expect(code, stderr).toBe(0);
    expect((await everturn("ledger", run, "--runs", runs)).stdout).toContain("The ledger holds.");
    expect(await policyOf(runs, 0)).toEqual(await policyOf(whole, 0));
  });

  test("what a step measured, and the histories: it is recorded again, and the ledger holds", async () => {
    const runs = damaged("recorded", (root) => {
      rmSync(join(root, "steps/3/recorded.json"));
      removeDatabase(root);
    });
    const { code, stderr } = await everturn("resume", run, "--runs", runs);
    expect(code, stderr).toBe(0);
    expect((await everturn("ledger", run, "--runs", runs)).stdout).toContain("The ledger holds.");
  });
});

test("a database that the server cannot read is named, with the way on, which works", async () => {
  const runs = damaged("database", (root) => {
    for (const name of namesInSync(root)) if (name.startsWith("temporal.db-")) rmSync(join(root, name));
    truncateSync(join(root, "temporal.db"), 40_960);
  });
  const refused = await everturn("resume", run, "--runs", runs);
  const database = join(runs, run, "temporal.db");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(
    `TEMPORAL_DATABASE_DAMAGED: The Temporal server cannot read its database ${database}: database disk image is malformed. Move ${database}`,
  );
  for (const name of namesInSync(join(runs, run)))
    if (name.startsWith("temporal.db")) renameSync(join(runs, run, name), join(folder, name));
  const { code, stderr } = await everturn("resume", run, "--runs", runs, "--set", "steps=4");
  expect(code, stderr).toBe(0);
});
