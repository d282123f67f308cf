import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readLines } from "../../src/base/files/line-file.ts";
import { namesIn } from "../../src/base/files/names-in.ts";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import type { ToolHostChange } from "../../src/contracts/tool-host-change.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { killIfRunning, type RunningCommand, start } from "../support/command.ts";
import { scriptedPolicy } from "../support/scripted-pipeline.ts";
import { callsRecorded, leasesOf, turnsRecorded } from "../support/sessions.ts";
import { stageRecords } from "../support/stage-records.ts";
import { type Counts, type Place, type Protocol, tasks } from "./protocol.ts";

const pipeline = join(import.meta.dirname, "..", "pipelines", "environment.yaml");
const [batchSize, groupSize] = [8, 2];
const stages = ["step-0001", "step-0002", "evaluation-v0000", "evaluation-v0002"];

/** A run that has ended. */
interface EndedRun {
  root: string;
  records: Trajectory[];
  /** Why the environment's breaker opened. */
  pauses: string[];
}

/**
 * Makes three runs in an environment: one that trains and evaluates; the same one, in the middle of whose episodes
 * everything is killed; and one in which most episodes can't begin.
 */
export async function threeRuns(place: Place, protocol: Protocol): Promise<Counts> {
  const gates = join(place.folder, "gates");
  mkdirSync(gates, { recursive: true });
  try {
    await protocol.serve?.(false);
    place.note("a run without failures");
    const plain = await ended(place, "plain", run(place, "plain", settings(protocol, gates)));
    await protocol.check?.(plain.records);

    place.note("the same run, everything of which is killed in the middle of its episodes");
    writeFileSync(join(gates, "step-0001-turn-2"), "");
    const victim = run(place, "killed", settings(protocol, gates));
    try {
      await untilInEpisodes(place, protocol, victim);
    } finally {
      killIfRunning(victim);
      protocol.kill();
    }
    rmSync(join(gates, "step-0001-turn-2"));
    await protocol.serve?.(false);
    const id = await runIn(place, "killed");
    const resumed = start("resume", id, "--runs", join(place.folder, "killed"), "--json");
    const again = await ended(place, "killed", resumed);
    const different = differences(plain.records, again.records);

    place.note("a run in which most episodes can't begin");
    protocol.kill();
    await protocol.serve?.(true);
    const failing = await ended(place, "failing", run(place, "failing", failingSettings(protocol)));
    if (failing.pauses.length === 0) throw new Error("the environment's breaker did not open");
    place.note(`the breaker said: ${failing.pauses[0]}`);
    const isBegun = ({ turns }: Trajectory) => turns.length > 0;
    const masked = failing.records.filter(({ outcome }) => outcome === "left-out").length;
    const scoredZero = failing.records.filter((one) => one.outcome !== "left-out" && !isBegun(one)).length;

    const left = [plain, again, failing].flatMap(leasesOf).length + (await protocol.left());
    const trajectories = plain.records.length;
    place.note(
      `${trajectories} trajectories, ${different} of them different after the kill; ${masked} excluded`,
    );
    return { trajectories, kills: 1, different, masked, scoredZero, orphans: left };
  } finally {
    protocol.kill();
  }
}

function run({ folder }: Place, name: string, given: readonly string[]): RunningCommand {
  return start("run", pipeline, "--runs", join(folder, name), "--json", ...given);
}

function settings(protocol: Protocol, gates: string): string[] {
  return flags({
    steps: 2,
    policy: scriptedPolicy({ conversations: protocol.conversations, gates }),
    environment: environmentOf(protocol, false),
    trainer: { plugin: "trainer-onnx", config: { learningRate: 1e-4, minibatchSize: batchSize } },
    rollout: { batchSize, groupSize, maxActionTokens: 300 },
    evaluation: { every: 2, tasks: 1 },
  });
}

function failingSettings(protocol: Protocol): string[] {
  return flags({
    policy: scriptedPolicy({ conversations: protocol.conversations }),
    environment: environmentOf(protocol, true),
    hosts: { [protocol.plugin]: { failures: 5, pause: "200ms", longestPause: "1s", patience: "30s" } },
    rollout: {
      batchSize: tasks * groupSize,
      groupSize,
      minGroup: 1,
      maxInfrastructureFailures: 1,
      maxActionTokens: 300,
    },
    evaluation: { every: 0, tasks: 1 },
  });
}

function environmentOf({ plugin, config }: Protocol, isFailing: boolean): JsonObject {
  const retry = { maximumAttempts: 3, initialInterval: "100ms" };
  return { plugin, config: config(isFailing), retry };
}

function flags(given: JsonObject): string[] {
  return Object.entries(given).flatMap(([key, value]) => ["--set", `${key}=${JSON.stringify(value)}`]);
}

/**
 * Waits until each trajectory of the first step has made its first call, or has chosen it if an agent makes it. Throws if
 * the run ends before.
 */
async function untilInEpisodes(
  place: Place,
  { drivesAgent }: Protocol,
  { child, stderr }: RunningCommand,
): Promise<void> {
  const begun = drivesAgent ? turnsRecorded : callsRecorded;
  for (const end = Date.now() + 300_000; Date.now() < end; await sleep(100)) {
    if (child.exitCode !== null)
      throw new Error(`the run ended before it was killed: ${stderr().slice(-3000)}`);
    const id = await runIn(place, "killed").catch(() => undefined);
    if (id !== undefined && begun(runFolder(join(place.folder, "killed"), id), "step-0001", 1) === batchSize)
      return void (await sleep(1000)); // until the policy waits at the gate
  }
  throw new Error("the run's episodes made no call within 5 minutes");
}

async function runIn({ folder }: Place, name: string): Promise<string> {
  const [id] = await namesIn(join(folder, name));
  if (id === undefined) throw new Error(`${folder}/${name} has no run`);
  return id;
}

async function ended(place: Place, name: string, command: RunningCommand): Promise<EndedRun> {
  const { code, stdout, stderr } = await command.end();
  if (code !== 0) throw new Error(`the run failed: ${stderr.slice(-3000)}${stdout.slice(-1000)}`);
  const folder = runFolder(join(place.folder, name), await runIn(place, name));
  const records = (await Promise.all(stages.map((stage) => stageRecords(folder.root, stage)))).flat();
  const changes = await readLines<ToolHostChange>(folder.hosts);
  const pauses = changes.filter(({ state }) => state === "paused").map(({ reason }) => reason);
  return { root: folder.root, records, pauses };
}

/** How many trajectories of two runs differ, or are in only one of them. */
function differences(one: readonly Trajectory[], other: readonly Trajectory[]): number {
  const name = ({ taskId, sample, stage }: Trajectory) => `${taskId}/${sample}/${stage}`;
  const expected = new Map(one.map((record) => [name(record), comparable(record)]));
  const different = other.filter((record) => expected.get(name(record)) !== comparable(record)).length;
  return different + Math.max(0, one.length - other.length);
}

/** What is equal in two runs that made the same trajectories. */
function comparable({ turns, reward, success, outcome }: Trajectory): string {
  const made = turns.map(({ action, toolCalls }) => [
    action,
    toolCalls.map(({ tool, arguments: given, observation, valid }) => [tool, given, observation, valid]),
  ]);
  return JSON.stringify([made, reward, success, outcome]);
}
