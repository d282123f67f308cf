import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { registerLedger } from "../../../../src/apps/cli/commands/ledger.ts";
import { registerPrune } from "../../../../src/apps/cli/commands/prune.ts";
import { registerReport } from "../../../../src/apps/cli/commands/report.ts";
import { registerShow } from "../../../../src/apps/cli/commands/show.ts";
import { registerTrajectories } from "../../../../src/apps/cli/commands/trajectories.ts";
import { newAttempt } from "../../../../src/base/files/temporary-name.ts";
import { foldSteps } from "../../../../src/results/retention/fold-steps.ts";
import { freeRecords } from "../../../../src/results/retention/free-records.ts";
import { housekeeping } from "../../../../src/results/retention/housekeeping.ts";
import { prune } from "../../../../src/results/retention/prune.ts";
import type { OpenRun } from "../../../../src/run/folder/open-runs.ts";
import { prefixOf } from "../../../../src/run/store/key.ts";
import { callKey, trainedStepKey } from "../../../../src/run/store/keys.ts";
import { listed } from "../../../../src/run/store/listed.ts";
import type { Store } from "../../../../src/run/store/store.ts";
import { copyTurns } from "../../../../src/run/trajectory/copy-turns.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { trajectoryOf } from "../../../../src/run/trajectory/trajectory-of.ts";
import { listVersions } from "../../../../src/run/versions/list-versions.ts";
import { makeRun } from "../../../support/made-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

const runs = temporaryFolder();
let madeRun: OpenRun;
let ids: string[] = [];

beforeAll(async () => {
  madeRun = await makeRun(runs, { steps: 5, trajectories: 4, turns: 3, tokens: 8 });
  const json = await runCommand(registerTrajectories, "trajectories", "made", "--json", "--runs", runs);
  ids = JSON.parse(json).trajectories.map(({ id }: { id: string }) => id);
});

/** What the commands say of the run. */
async function answers() {
  const options = ["--runs", runs];
  const shown: string[] = [];
  for (const id of ids) shown.push(await runCommand(registerShow, "show", id, "--json", ...options));
  await runCommand(registerReport, "report", "made", ...options);
  return {
    shown,
    listed: await runCommand(registerTrajectories, "trajectories", "made", "--limit", "0", ...options),
    tool: await runCommand(
      registerTrajectories,
      "trajectories",
      "made",
      "--tool",
      "calculator",
      "--min-reward",
      "1",
      "--json",
      ...options,
    ),
    ledger: await runCommand(registerLedger, "ledger", "made", "--json", ...options),
    stage: await runCommand(registerLedger, "ledger", "made", "--step", "1", "--json", ...options),
    report: readFileSync(madeRun.folder.report, "utf8"),
  };
}

async function paths(store: Store): Promise<string[]> {
  const all: string[] = [];
  for await (const path of listed(store, prefixOf())) all.push(path);
  return all;
}

const singleSteps = async ({ store }: OpenRun) =>
  new Set((await paths(store)).flatMap((path) => /^trajectories\/(step-\d+)\//.exec(path)?.[1] ?? []));

/** A run whose store fails at its so-many-th change, as if the process were killed there. */
function failingAt(number: number): OpenRun {
  let changes = 0;
  const change =
    <Parameters extends unknown[], Result>(act: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      if (++changes === number) throw new Error("killed");
      return act(...parameters);
    };
  const { store } = madeRun;
  const failing = {
    ...store,
    tree: change(store.tree),
    remove: change(store.remove),
    free: change(store.free),
  };
  return { ...madeRun, store: failing as Store };
}

test("pruned, and killed at any point of it, a run answers every command as before", async () => {
  const before = await answers();
  expect(ids).toHaveLength(20);
  expect(JSON.parse(before.ledger).findings).toEqual([]);

  const all = await paths(madeRun.store);
  const dry = await prune(madeRun, { isDry: true });
  expect(await paths(madeRun.store)).toEqual(all);
  expect(dry).toMatchObject({ folded: [1, 2, 3, 4, 5], trajectories: 8, records: 48 });
  expect(dry.versions.map(({ version }) => version)).toEqual([1, 2]);

  let kills = 0;
  while (
    await prune(failingAt(1 + kills * 7)).then(
      () => false,
      () => true,
    )
  )
    kills++;
  expect(kills).toBeGreaterThan(1);
  await prune(madeRun);
  expect(await singleSteps(madeRun)).toEqual(new Set(["step-0003", "step-0004", "step-0005"]));
  const states = (await listVersions(madeRun)).map(({ state }) => state);
  expect(states).toEqual(["there", "removed", "removed", "there", "there", "there"]);
  expect(await answers()).toEqual(before);

  expect(await runCommand(registerPrune, "prune", "made", "--runs", runs)).toBe("Nothing to prune.\n");
});

/** The run, with a count of what its store was asked, and of how much of it at once. Each answer takes a moment. */
function counted({ store, ...rest }: OpenRun) {
  const asked = { at: 0, most: 0, all: 0 };
  const counting =
    <Parameters extends unknown[], Result>(act: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      asked.all++;
      asked.most = Math.max(asked.most, ++asked.at);
      await sleep(2);
      return act(...parameters).finally(() => asked.at--);
    };
  const names = ["read", "has", "remove", "record", "readTree", "treeRecord"] as const;
  const slow = Object.fromEntries(names.map((name) => [name, counting(store[name] as never)]));
  return { asked, run: { ...rest, store: { ...store, ...slow } as Store } };
}

test("records are read and removed some at once, and no more", async () => {
  const other = await makeRun(temporaryFolder(), { steps: 4, trajectories: 12, turns: 2, tokens: 4 });
  for (const act of [
    (run: OpenRun) => foldSteps(run, 2),
    (run: OpenRun) => freeRecords(run, 1),
    (run: OpenRun) => prune({ ...run, plan: { ...run.plan, retention: { singleRecords: 0 } } }),
  ]) {
    const { asked, run } = counted(other);
    await act(run);
    expect(asked.most).toBeGreaterThanOrEqual(8);
    expect(asked.most).toBeLessThanOrEqual(64);
  }
  expect(await singleSteps(other)).toEqual(new Set());
});

test("what a killed worker left to be removed goes with the next step, which asks no more of the store the longer a run is", async () => {
  const other = await makeRun(temporaryFolder(), { steps: 14, trajectories: 2, turns: 2, tokens: 4 });
  const keep = async (run: OpenRun, step: number) => {
    const keeping = housekeeping();
    keeping.add(run, step);
    await keeping.done();
  };
  await keep(other, 5);
  const killed = async () => {
    throw new Error("killed");
  };
  await keep({ ...other, store: { ...other.store, remove: killed } }, 6);
  expect([...(await singleSteps(other))].slice(0, 2)).toEqual(["step-0003", "step-0004"]);
  await keep(other, 7);
  expect([...(await singleSteps(other))][0]).toBe("step-0005");

  const asked: number[] = [];
  for (let step = 8; step <= 14; step++) {
    const one = counted(other);
    await keep(one.run, step);
    asked.push(one.asked.all);
  }
  expect(asked).toEqual(asked.map(() => asked[0]));
});

test("what a late writer puts back is an orphan; a fork of a pruned trajectory has its turns", async () => {
  const [id = ""] = ids;
  const name = trajectoryOf(id);
  const reader = trajectoryReader(madeRun);
  const answered = await reader.read(callKey(name, 1, 0));
  await madeRun.store.record(callKey(name, 1, 0), { ...answered, observation: "late" } as never);
  expect(await reader.read(callKey(name, 1, 0))).toEqual(answered);
  const pruned = await runCommand(registerPrune, "prune", "made", "--json", "--runs", runs);
  expect(JSON.parse(pruned)).toMatchObject({ folded: [], records: 1, trajectories: 1, versions: [] });

  const fork = { stage: "fork-0001", task: name.task, sample: 0 };
  await copyTurns({ ...madeRun.store, read: reader.read }, { from: name, to: fork, turns: 2 });
  expect(await madeRun.store.read(callKey(fork, 1, 0))).toEqual(answered);
});

test("a worker that records a step folds it, and those before it, and keeps the newest steps' single records", async () => {
  const other = await makeRun(temporaryFolder(), { steps: 5, trajectories: 2, turns: 2, tokens: 4 });
  const keeping = housekeeping();
  const killed = newAttempt().replace(/\.\d+\./, ".4194000."); // no such process
  const left = join(other.folder.root, trainedStepKey(5).tree, killed, "policy");
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, "weights"), "");
  keeping.add(other, 4);
  keeping.add(other, 5);
  await keeping.done();
  expect(existsSync(left), "what a killed trainer left").toBe(false);
  expect(await singleSteps(other)).toEqual(new Set(["step-0003", "step-0004", "step-0005"]));
  expect(await prune(other, { isDry: true })).toMatchObject({ folded: [], records: 0 });
});
