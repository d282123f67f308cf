import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeAs } from "../../../../src/base/files/write-as.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { isRun, readRunFile } from "../../../../src/run/folder/run-file.ts";
import { forkKey } from "../../../../src/run/store/keys.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { startObjects } from "../../../support/object-store.ts";
import { objectsUrl } from "../../../support/open-objects.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const runs = temporaryFolder();
const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: true, evaluationEvery: 1 });

test("runs that begin in the same second get folders of their own, with the plan as it was", async () => {
  const ids = await Promise.all([1, 2, 3].map(() => createRunFolder(plan, { runs })));
  expect(new Set(ids).size).toBe(3);
  expect(readdirSync(runs).sort()).toEqual([...ids].sort());
  expect(ids[0]).toMatch(/^calculator-\d{8}-\d{6}(-[23])?$/);
  expect((await openRunFolder(runs, ids[0] ?? "")).plan).toEqual(plan);
});

test("a run has queues of its own, on its own server too: another run's workers may meet it", async () => {
  const own = await readRunFile(runs, await createRunFolder(plan, { runs }));
  expect(own).toMatchObject({
    namespace: "default",
    queues: { policy: `${own.run}/rollout`, tools: `${own.run}/rollout`, trainer: `${own.run}/trainer` },
  });
  expect(own.address).toBeUndefined();
  const server = { address: "temporal.example:7233", namespace: "training" };
  const run = await createRunFolder(plan, { runs, server, telemetry: true });
  expect(await readRunFile(runs, run)).toMatchObject({
    ...server,
    telemetry: true,
    queues: { tools: `${run}/tools` },
  });
});

test("a run that is not there is refused with those that are", async () => {
  mkdirSync(join(runs, "unfinished"));
  await expect(openRunFolder(runs, "calculator-1")).rejects.toThrow(
    /There is no run calculator-1 in .*Runs there: (?!.*unfinished)/,
  );
});

test("a run may name another store: whoever opens the run opens that, and its folder keeps run.json and its mark alone", async () => {
  const place = await startObjects(temporaryFolder(), { lag: 60_000 });
  if (!("port" in place)) throw new Error("an object store has a port");
  const store = objectsUrl(place.port);
  const run = await createRunFolder(plan, { runs, workers: "shared", store });
  expect(readdirSync(join(runs, run)).filter((name) => name !== "writing")).toEqual([
    "identity.json",
    "run.json",
  ]);
  const one = await openRunFolder(runs, run);
  expect(one.plan).toEqual(plan);
  await one.store.record(forkKey(1), { by: "one" });
  const elsewhere = openRunStore(join(runs, run));
  expect(await elsewhere.read(forkKey(1))).toEqual({ by: "one" });
  const other = await createRunFolder(plan, { runs, workers: "shared", store });
  expect(await (await openRunFolder(runs, other)).store.read(forkKey(1)), "runs are apart").toBeUndefined();
});

test("a store that can't be opened is refused by its name, and its run is none", async () => {
  const before = readdirSync(runs);
  const creating = createRunFolder(plan, {
    runs,
    workers: "shared",
    store: "file:///nowhere/objects.ts?bucket=runs",
  });
  await expect(creating).rejects.toMatchObject({
    code: "STORE_UNUSABLE",
    params: { store: "file:///nowhere/objects.ts?bucket=runs" },
  });
  const [made = ""] = readdirSync(runs).filter((name) => !before.includes(name));
  expect(isRun(runs, made)).toBe(false);
});

test("a run is the user's alone, and what is written in it as open as its folder", async () => {
  const of = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const before = process.umask(0o022);
  try {
    const parent = join(runs, "private");
    const run = await createRunFolder(plan, { runs: parent });
    const root = join(parent, run);
    expect([root, join(root, "plan"), join(root, "plan", "1.json"), join(root, "run.json")].map(of)).toEqual([
      "700",
      "700",
      "600",
      "600",
    ]);
    expect(of(parent)).toBe("755");
    expect(process.umask(0o022)).toBe(0o022);
    const named = await createRunFolder(plan, { runs: parent, workers: "shared", id: "named" });
    expect([of(join(parent, named)), of(join(parent, named, "run.json"))]).toEqual(["700", "600"]);
    chmodSync(root, 0o750);
    const undo = writeAs(root);
    writeFileSync(join(root, "opened"), "");
    undo();
    writeFileSync(join(root, "after"), "");
    expect([of(join(root, "opened")), of(join(root, "after"))]).toEqual(["640", "644"]);
    process.umask(0o077);
    writeAs(root)();
    expect(process.umask(0o077)).toBe(0o077);
  } finally {
    process.umask(before);
  }
});
