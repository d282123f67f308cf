import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { Reservation, TrainedStep } from "../../src/contracts/ledger.ts";
import type { Plan } from "../../src/contracts/plan.ts";
import { readLedger } from "../../src/results/ledger/ledger.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { type RunFolder, runFolder } from "../../src/run/folder/run-folder.ts";
import { planRow } from "../../src/run/store/keys.ts";
import type { Tree } from "../../src/run/store/tree.ts";
import { everturn, killIfRunning, lastLine, start } from "../support/command.ts";
import { changeRecord, storedRecord } from "../support/stored-record.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const overrides = ["steps=2", "warmStart.steps=5", "evaluation.tasks=2", "rollout.batchSize=8"];
const settings = overrides.flatMap((setting) => ["--set", setting]);

interface Ledger {
  stages: { stage: string; reserved: number; trained: number }[];
  entries: { trajectory: string; state: string }[];
  findings: { check: string; subject: string; problem: string }[];
}

async function ledgerOf(run: string): Promise<Ledger & { code: number }> {
  const { code, stdout, stderr } = await everturn("ledger", run, "--runs", runs, "--json");
  expect(stdout, stderr).not.toBe("");
  return { code: code ?? -1, ...lastLine<Ledger>(stdout) };
}

test("a run's ledger holds while it is killed and resumed, and at its end", async () => {
  let command = start("run", pipeline, "--runs", runs, ...settings, "--json");
  const isUp = () => command.stderr().includes("Temporal UI at") || command.child.exitCode !== null;
  await vi.waitUntil(isUp, { timeout: 250_000 });
  if ((await Promise.race([command.end(), sleep(500 + Math.random() * 6_000)])) === undefined) {
    killIfRunning(command);
    await command.end();
    const [killed = ""] = readdirSync(runs);
    expect(await ledgerOf(killed)).toMatchObject({ code: 0, findings: [] });
    command = start("resume", killed, "--runs", runs, "--json");
  }
  const { code, stderr } = await command.end();
  expect(code, stderr).toBe(0);
  const [run = ""] = readdirSync(runs);
  const ledger = await ledgerOf(run);
  expect(ledger).toMatchObject({ code: 0, findings: [] });
  const steps = ledger.stages.filter(({ stage }) => stage.startsWith("step-"));
  expect(steps).toMatchObject([
    { stage: "step-0001", reserved: 8, trained: 8 },
    { stage: "step-0002", reserved: 8, trained: 8 },
  ]);
  const left = readdirSync(runFolder(runs, run).root, { recursive: true, encoding: "utf8" });
  expect(left.filter((name) => name.endsWith(".tmp"))).toEqual([]);

  const shown = await everturn("ledger", run, "--runs", runs, "--step", "2");
  expect(shown.stdout).toContain("The ledger holds.");
  expect(shown.stdout).toMatch(/step-0002 +v3 +8 +0 +0 +8 +0/);
  expect(shown.stdout.match(/step-0002\/task-\d+\/0 +trained +2/g)).toHaveLength(8);
});

/** A copy of the run's folder, to break; the ids in it stay those of the run. */
async function findingsOfBroken(breakIt: (folder: RunFolder) => void): Promise<string[]> {
  const [run = ""] = readdirSync(runs);
  const copies = join(runs, "..", `${runs.split("/").at(-1)}-copies`);
  rmSync(copies, { recursive: true, force: true });
  await mkdir(copies);
  const folder = runFolder(copies, run);
  const { root, database } = runFolder(runs, run);
  await cp(root, folder.root, { recursive: true, filter: (path) => !path.startsWith(database) });
  // Where a step has its trajectories in one file, that counts: here the single records do.
  for (const step of ["1", "2"]) {
    const file = join(folder.root, "steps", step, "folded");
    for (const path of [file, `${file}.json`]) rmSync(path, { recursive: true, force: true });
  }
  breakIt(folder);
  const { findings } = await readLedger(await openRunFolder(copies, run));
  rmSync(copies, { recursive: true, force: true });
  return findings.map(({ check }) => check);
}

const trainedFile = ({ root }: RunFolder, step: number) => join(root, "steps", String(step), "trained.json");

const changeStep = (folder: RunFolder, step: number, how: (record: TrainedStep) => void) =>
  changeRecord<Tree<TrainedStep>>(trainedFile(folder, step), (tree) => {
    how(tree.value);
    return tree;
  });

/** Where what the second step made lies. */
function filesOfSecond(folder: RunFolder, part: "policy" | "trainer"): string {
  const { attempt } = storedRecord<Tree<TrainedStep>>(trainedFile(folder, 2));
  return join(folder.root, "steps", "2", "trained", attempt, part);
}

/** The file of the first trajectory of a stage. */
function trajectoryFile(folder: RunFolder, stage: string): string {
  const place = join(folder.root, "trajectories", stage);
  const [task = ""] = readdirSync(place).sort();
  return join(place, task, "0", "trajectory.json");
}

const changeFirst = (folder: RunFolder, how: (record: Trajectory) => void) =>
  changeRecord<Trajectory>(trajectoryFile(folder, "step-0001"), (record) => {
    how(record);
    return record;
  });

const turnOf = (folder: RunFolder) =>
  trajectoryFile(folder, "step-0001").replace("trajectory.json", "turn-1.json");

test.each<[string, string, (folder: RunFolder) => void]>([
  ["unaccounted", "a trajectory that no step used", (f) => changeStep(f, 1, (r) => r.trajectories.pop())],
  [
    "trained-twice",
    "one that two steps trained on",
    (f) => {
      const { trajectories } = storedRecord<Tree<TrainedStep>>(trainedFile(f, 1)).value;
      changeStep(f, 2, (record) => record.trajectories.splice(0, 1, ...trajectories.slice(0, 1)));
    },
  ],
  [
    "both",
    "one that was left out and trained on",
    (f) =>
      changeStep(f, 1, (record) => {
        const [first] = record.trajectories;
        record.leftOut = [{ trajectory: first?.trajectory ?? "", reason: "its host was down" }];
      }),
  ],
  [
    "no-reason",
    "one left out for no reason",
    (f) =>
      changeStep(f, 1, (record) => {
        const last = record.trajectories.pop();
        record.leftOut = [{ trajectory: last?.trajectory ?? "", reason: "" }];
      }),
  ],
  [
    "not-reserved",
    "one that was never admitted",
    (f) => {
      const first = join(f.root, "ledger", "step-0001", "1.json");
      changeRecord<Reservation>(first, (one) => ({ ...one, groups: one.groups.slice(1) }));
    },
  ],
  ["record-missing", "one without its record", (f) => rmSync(trajectoryFile(f, "step-0001"))],
  [
    "reward",
    "one whose reward was another",
    (f) => changeFirst(f, (record) => void Object.assign(record, { reward: 0.5 })),
  ],
  [
    "head",
    "one that ends elsewhere",
    (f) => changeFirst(f, (record) => void Object.assign(record, { head: "0".repeat(64) })),
  ],
  ["segments", "a turn that was changed", (f) => appendFileSync(turnOf(f), " ")],
  ["segments", "a turn that is not in the journal", (f) => rmSync(turnOf(f))],
  [
    "version",
    "optimizer state that is gone",
    (f) => rmSync(filesOfSecond(f, "trainer"), { recursive: true }),
  ],
  [
    "version",
    "weights that were cut",
    (f) => writeFileSync(join(filesOfSecond(f, "policy"), "model.safetensors"), "short"),
  ],
  [
    "version",
    "weights of which a byte is another",
    (f) => {
      const file = join(filesOfSecond(f, "policy"), "model.safetensors");
      const weights = readFileSync(file);
      writeFileSync(file, weights.fill((weights.at(-1) ?? 0) + 1, weights.length - 1));
    },
  ],
  [
    "metrics",
    "a step that was trained and is not recorded",
    (f) => rmSync(join(f.root, "steps", "1", "recorded.json")),
  ],
  [
    "metrics",
    "a line of metrics.jsonl that is gone",
    (f) => {
      const [line = ""] = readFileSync(f.metrics, "utf8").split("\n").slice(1);
      writeFileSync(f.metrics, `${line}\n`);
    },
  ],
  ["metrics", "a line written twice", (f) => appendFileSync(f.metrics, readFileSync(f.metrics))],
  [
    "data-cursor",
    "a task that the seed doesn't give",
    (f) => changeRecord<Plan>(join(f.root, planRow(1).path), (plan) => ({ ...plan, seed: plan.seed + 1 })),
  ],
  ["evaluation", "an evaluation without a trajectory", (f) => rmSync(trajectoryFile(f, "evaluation-v0003"))],
  ["record", "a turn that is cut", (f) => truncateSync(turnOf(f), 100)],
  ["record", "a record that is cut", (f) => writeFileSync(trainedFile(f, 2), "{")],
])("the ledger finds: %s (%s)", async (check, _, breakIt) => {
  expect(await findingsOfBroken(breakIt)).toContain(check);
});

test("what is wrong is said by name, with the exit code 1", async () => {
  const [run = ""] = readdirSync(runs);
  const folder = runFolder(runs, run);
  const [part, elsewhere] = [filesOfSecond(folder, "trainer"), join(folder.root, "elsewhere")];
  renameSync(part, elsewhere);
  const { code, stderr } = await everturn("ledger", run, "--runs", runs);
  renameSync(elsewhere, part);
  expect(code).toBe(1);
  expect(stderr).toContain(`LEDGER_BROKEN: The ledger of ${run} has 3 findings:\nversion: `);
  expect(stderr).toContain(`${join(part, "optimizer.safetensors")}: it has no bytes, not `);
});
