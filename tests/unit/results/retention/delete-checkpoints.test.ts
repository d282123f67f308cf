// The servers speak Tinker's wire (tests/support/tinker-server.ts) and delete checkpoints as SkyRL 0.4.0 and TuFT 0.2.2 publish it.
// No published server runs.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../../src/contracts/json.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { deleteCheckpoints } from "../../../../src/results/retention/delete-checkpoints.ts";
import { freeVersions } from "../../../../src/results/retention/free-versions.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import type { TreeKey } from "../../../../src/run/store/key.ts";
import { deletedCheckpointKey, warmStartKey } from "../../../../src/run/store/keys.ts";
import { firstVersion } from "../../../../src/run/versions/first-version.ts";
import { versionKey } from "../../../../src/run/versions/version-parts.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { type Numbering, TinkerServer } from "../../../support/tinker-server.ts";

const last = 7;

/** A run whose seven steps were trained on a server. Every fourth step is a checkpoint. */
async function servedRun(
  name = "skyrl-jax",
  numbering: Numbering = "skyrl",
  warmStart: JsonObject | null = null,
) {
  const server = await new TinkerServer({ numbering }).start();
  onTestFinished(() => server.stop());
  const config = { server: name, url: server.url, baseModel: "tiny", downloadAdapter: false };
  const trainer = { plugin: "trainer-tinker", config };
  const pipeline = join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml");
  const changed = { warmStart, trainer, "rollout.groupSize": 2, "checkpoints.every": 4, steps: last };
  const overrides = Object.entries(changed).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const plan = await loadPlan(pipeline, { overrides });
  const runs = temporaryFolder();
  const run = await openRunFolder(runs, await createRunFolder(plan, { runs }));
  const commit = async (key: TreeKey<unknown>, checkpoint: string) => {
    server.checkpoints.set(checkpoint, { modelId: "model_1", name: "", history: [], order: 0 });
    const write = async (folder: string) => {
      for (const part of ["policy", "trainer"]) {
        await mkdir(join(folder, part));
        await writeFile(join(folder, part, "file"), checkpoint);
      }
    };
    const step = { url: server.url, model: "model_1", requests: { first: 1, last: 1 }, checkpoint };
    await run.store.tree(key, write, () => ({ server: step }));
  };
  const kind = numbering === "none" ? "checkpoints" : "weights";
  const named = (version: string | number) => `tinker://model_1/${kind}/${version}`;
  const first = firstVersion(plan);
  for (let version = 1; version <= first + last; version++)
    await commit(versionKey(plan, version), named(version));
  const left = () => [...server.checkpoints.keys()].map((path) => path.replace(named(""), ""));
  const deletions = () => server.calls.filter(({ path }) => path.startsWith("training_runs/")).length;
  return { run, server, commit, named, left, deletions };
}

test.each([
  ["skyrl-jax", "skyrl"],
  ["tuft", "tuft"],
] as const)(
  "%s keeps the checkpoints of versions whose files stay, and loses the others once",
  async (...served) => {
    const { run, left, deletions, named } = await servedRun(...served);
    expect(await deleteCheckpoints(run, { last }), "no files were freed").toEqual([]);
    const foreseen = await deleteCheckpoints(run, { last, isDry: true });
    expect(left()).toHaveLength(last);
    await freeVersions(run, { last });
    expect(await deleteCheckpoints(run, { last })).toEqual([1, 2, 3].map(named));
    expect(foreseen).toEqual([1, 2, 3].map(named));
    expect(left(), "a checkpoint, and the newest three").toEqual(["4", "5", "6", "7"]);
    expect(await deleteCheckpoints(run, { last })).toEqual([]);
    expect(deletions()).toBe(3);
  },
);

test("a server that does not answer loses them at the next attempt", async () => {
  const { run, server, left } = await servedRun();
  await freeVersions(run, { last });
  await server.stop();
  await expect(deleteCheckpoints(run, { last })).rejects.toMatchObject({ code: "CHECKPOINTS_NOT_DELETED" });
  await server.start();
  expect(await deleteCheckpoints(run, { last })).toHaveLength(3);
  expect(left()).toHaveLength(4);
});

test("an attempt that was killed before it recorded a deletion is repeated", async () => {
  const { run, left } = await servedRun();
  await freeVersions(run, { last });
  const record = () => Promise.reject(new Error("killed"));
  await expect(deleteCheckpoints({ ...run, store: { ...run.store, record } }, { last })).rejects.toThrow(
    "killed",
  );
  expect(left()).toHaveLength(4);
  expect(await deleteCheckpoints(run, { last }), "the server no longer has them").toHaveLength(3);
  expect(await run.store.has(deletedCheckpointKey(versionKey(run.plan, 1)))).toBe(true);
});

test("the checkpoints of the warm start's slices are deleted, and that of its last stays", async () => {
  const demonstrations = join(import.meta.dirname, "..", "..", "..", "fixtures", "tool-demonstrations.jsonl");
  const { run, commit, named, left } = await servedRun("skyrl-jax", "skyrl", { demonstrations, steps: 60 });
  for (const to of [25, 50]) {
    await commit(warmStartKey(to), named(`warm-${to}`));
    for (const part of ["policy", "trainer"]) await run.store.free(warmStartKey(to), part);
  }
  await freeVersions(run, { last });
  expect(await deleteCheckpoints(run, { last })).toEqual(["warm-25", "warm-50", 2, 3, 4].map(named));
  expect(left()).toEqual(["1", "5", "6", "7", "8"]);
});

test("Hatchery is not asked, because it keeps the checkpoints of released models", async () => {
  const { run, left, deletions } = await servedRun("hatchery", "none");
  await freeVersions(run, { last });
  expect(await deleteCheckpoints(run, { last })).toEqual([]);
  expect([left().length, deletions()]).toEqual([last, 0]);
});
