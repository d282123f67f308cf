import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { type OpenRun, openRunFolder } from "../../src/run/folder/open-runs.ts";
import { folderOfStore } from "../../src/run/folder/store-runs.ts";
import { portionsPrefix, trainedStepKey } from "../../src/run/store/keys.ts";
import { listed } from "../../src/run/store/listed.ts";
import { type RunningCommand, startWith } from "../support/command.ts";
import { seaweedHere, startS3Server } from "../support/s3-server.ts";
import { startedCommands } from "../support/started-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const remember = startedCommands();
const waiting = { timeout: 250_000, interval: 50 };
const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
const temporal = await startDevServer({ binary: await findServerBinary(), ...paths });
afterAll(() => temporal.stop());
const weed = await seaweedHere();
const s3 = weed === undefined ? undefined : await startS3Server(weed, join(folder, "s3"));
afterAll(() => s3?.kill());
const bucket = "s3://runs/shared";

/** 24 updates a step, each in three portions: long enough for a trainer that begins later. */
const steps = 3;
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const trained = { algorithm: "ppo", minibatchSize: 4, epochs: 6, threads: 1, dataParallel: 3 };
const settings = [`trainer.config=${JSON.stringify(trained)}`, `steps=${steps}`, "warmStart.steps=4"].concat(
  "evaluation.every=0",
  "evaluation.tasks=1",
);

/** Milliseconds longer than a heartbeat may be late, and than others wait for what a trainer claimed. */
const longStop = 15_000;

interface Course {
  trainers: number;
  store: "folder" | "s3";
  /** One for each step from the second on: what happens to a trainer while the step is computed. */
  strikes?: readonly ("kill" | "stop")[];
}

/** Trains on workers that the test starts. Returns all that the steps committed. */
async function train(run: string, { trainers, store, strikes = [] }: Course) {
  const own = store === "s3" ? { ...s3?.env, EVERTURN_STORE: bucket } : {};
  const where = store === "s3" ? [] : ["--runs", runs];
  const begin = (...parameters: string[]) =>
    remember(startWith({ ...own, TEMPORAL_ADDRESS: temporal.address }, ...parameters, ...where));
  const work = (role: string) => begin("worker", "--role", role, "--run", run);
  const set = settings.flatMap((setting) => ["--set", setting]);
  const command = begin("run", pipeline, "--id", run, "--workers", "elsewhere", "--json", ...set);
  await vi.waitUntil(() => command.stderr().includes("--role ROLE"), waiting);
  const working = Array.from({ length: trainers }, () => work("trainer"));
  await vi.waitUntil(() => working.every((one) => one.stdout().includes("polls")), waiting);
  const others = ["orchestration", "policy", "tools"].map(work);
  Object.assign(process.env, store === "s3" ? s3?.env : {});
  const opened = await openRunFolder(store === "s3" ? await folderOfStore(bucket) : runs, run);

  const ended = command.end();
  const sharing: number[] = [];
  const stopped: Promise<unknown>[] = [];
  for (let step = 2; step <= steps; step++) {
    const watched = watchClaims(opened, step);
    const strike = strikes[step - 2];
    if (strike !== undefined) {
      expect(await watched.half, "claimants when the strike meets the step").toBeGreaterThan(0);
      const at = step % trainers;
      const { child, end } = working[at]!;
      if (strike === "kill") {
        child.kill("SIGKILL");
        await end();
        working[at] = work("trainer");
      } else {
        child.kill("SIGSTOP");
        stopped.push(sleep(longStop).then(() => child.kill("SIGCONT")));
      }
    }
    const replaced = strike === "kill" ? 1 : 0; // a trainer and its replacement count once
    sharing.push(Math.max(await watched.half, (await watched.all) - replaced));
  }
  expect(Math.max(...sharing), `of ${trainers} trainers shared a step`).toBeGreaterThanOrEqual(
    Math.min(2, trainers),
  );
  const { code, stderr } = await ended;
  await Promise.all(stopped);
  expect(code, stderr).toBe(0);
  const committed = await Promise.all(
    Array.from({ length: steps }, (_, index) => opened.store.readTree(trainedStepKey(index + 1))),
  );
  for (const one of [...working, ...others]) await drained(one);
  const ledger = await begin("ledger", run).end();
  expect(ledger.stdout, ledger.stderr).toContain("The ledger holds.");
  const pruned = await begin("prune", run).end();
  expect(pruned.code, pruned.stderr).toBe(0);
  for (let step = 1; step <= steps; step++) expect(await claimsOf(opened, step)).toEqual([]);
  return committed.map((tree) => ({ files: tree?.files, metrics: tree?.value.metrics }));
}

/**
 * Follows who claims a step's portions until the step is committed. Returns the number of claimants once half of the
 * portions were claimed (0 if that was not seen), and the number of all.
 */
function watchClaims(opened: OpenRun, step: number): { half: Promise<number>; all: Promise<number> } {
  const half = Promise.withResolvers<number>();
  return { half: half.promise, all: follow() };

  async function follow(): Promise<number> {
    const claimants = new Set<string>();
    try {
      while ((await opened.store.readTree(trainedStepKey(step))) === undefined) {
        const claims = await claimsOf(opened, step);
        for (const by of claims) claimants.add(by);
        if (claims.length > 36) half.resolve(claimants.size);
        await sleep(50);
      }
      return claimants.size;
    } finally {
      half.resolve(0);
    }
  }
}

/** Those who claimed a step's portions. */
async function claimsOf({ store }: OpenRun, step: number): Promise<string[]> {
  const claims: Promise<{ by: string } | undefined>[] = [];
  for await (const path of listed(store, portionsPrefix(step)))
    if (path.endsWith("claim.json")) claims.push(store.read({ path }));
  return (await Promise.all(claims)).flatMap((claim) => claim?.by ?? []);
}

async function drained({ child, end }: RunningCommand): Promise<void> {
  child.kill("SIGTERM");
  await end();
}

const alone = train("alone", { trainers: 1, store: "folder" });

test("two and three trainers make the versions of one, bit for bit", async () => {
  const expected = await alone;
  expect(expected.every(({ files }) => Object.keys(files ?? {}).length > 2)).toBe(true);
  expect(await train("two", { trainers: 2, store: "folder" })).toEqual(expected);
  expect(await train("three", { trainers: 3, store: "folder" })).toEqual(expected);
}, 600_000);

test("so do trainers that are killed, and that are stopped and continue, while they compute a step", async () => {
  const strikes = ["kill", "stop"] as const;
  expect(await train("struck", { trainers: 2, store: "folder", strikes })).toEqual(await alone);
}, 600_000);

test.skipIf(s3 === undefined)(
  "and in a bucket",
  async () => {
    const strikes = ["stop", "kill"] as const;
    expect(await train("bucket", { trainers: 3, store: "s3", strikes })).toEqual(await alone);
  },
  600_000,
);
