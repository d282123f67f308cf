import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { trainedStepKey } from "../../../../src/run/store/keys.ts";
import { listVersions } from "../../../../src/run/versions/list-versions.ts";
import { hasVersion, newestVersion } from "../../../../src/run/versions/newest-version.ts";
import { policyPart, versionKey } from "../../../../src/run/versions/version-parts.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { folderOf, writeVersion } from "../../../support/versions.ts";

const runs = temporaryFolder();
const settings = { steps: 9, batchSize: 8, tasks: 2, evaluationEvery: 1 };

async function fresh({ warmStart }: { warmStart: boolean }) {
  const run = await createRunFolder(samplePlan({ ...settings, warmStart }), { runs });
  return openRunFolder(runs, run);
}

test("a version is in the tree of what made it: the beginning, the warm start's end, a step", async () => {
  const { plan } = await fresh({ warmStart: true });
  const steps = plan.warmStart?.steps;
  const keys = [0, 1, 2, 3].map((version) => versionKey(plan, version).tree);
  expect(keys).toEqual(["initial", `warm-start/${steps}`, "steps/1/trained", "steps/2/trained"]);
  const { plan: cold } = await fresh({ warmStart: false });
  expect([0, 1].map((version) => versionKey(cold, version).tree)).toEqual(["initial", "steps/1/trained"]);
});

test("the newest version is the last one whose commit stands; what is half written doesn't count", async () => {
  const run = await fresh({ warmStart: true });
  expect(await newestVersion(run)).toBeUndefined();
  for (const version of [0, 1, 2, 3]) await writeVersion(run, version);
  const failing = writeVersion(run, 4, async () => {
    throw new Error("the loss is not finite");
  });
  await expect(failing).rejects.toThrow("not finite");
  expect(await newestVersion(run)).toBe(3);
  expect(await folderOf(run, 3)).toMatch(/\/steps\/2\/trained\/[^/]+\/policy$/);
  expect(await newestVersion(run, 2)).toBe(3);
  expect(await newestVersion(run, 3)).toBe(3);
  const left = readdirSync(join(run.folder.root, "steps", "3"), { recursive: true });
  expect(left, "of the attempt that failed").toEqual(["trained"]);
});

test("a version that was removed stays known as such, and one that was cut is said to be broken", async () => {
  const run = await fresh({ warmStart: false });
  for (const version of [0, 1, 2, 3]) await writeVersion(run, version);
  const { key, part } = policyPart(run.plan, 1);
  await run.store.free(key, part);
  writeFileSync(join(await folderOf(run, 2), "weights"), "cut it");
  expect(await newestVersion(run), "asked for one after the other").toBe(3);
  expect(await Promise.all([0, 1, 2, 3, 4].map((version) => hasVersion(run, version)))).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
  expect(await listVersions(run)).toEqual([
    { version: 0, state: "there", folder: await folderOf(run, 0) },
    { version: 1, step: 1, state: "removed" },
    { version: 2, step: 2, state: "broken" },
    { version: 3, step: 3, state: "there", folder: await folderOf(run, 3) },
  ]);
  expect(
    (await run.store.treeRecord(trainedStepKey(2)))?.value,
    "its record is read all the same",
  ).toBeDefined();
});
