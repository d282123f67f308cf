// npm run environments -- [--json] [PROTOCOL …]: runs in environments of published servers, which it installs into the user's
// cache. Per protocol: a run that trains and evaluates; the same run, in whose episodes everything is killed once, the server
// too; and a run in which most episodes can't begin. The last line counts what happened; the command fails if the
// trajectories of the first two runs differ, if a failure of the environment was scored, or if anything is left behind.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { namesIn } from "../../src/base/files/names-in.ts";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { killIfRunning, start } from "../support/command.ts";
import { scriptedPolicy } from "../support/scripted-pipeline.ts";
import { callsRecorded, leasesOf } from "../support/sessions.ts";
import { stageRecords } from "../support/stage-records.ts";
import {
  nemoGym,
  openenv,
  type PublishedServer,
  pythonOf,
  type StartedServer,
  startPublished,
} from "./published-servers.ts";

const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false } },
  allowPositionals: true,
});
const note = (text: string) => void (values.json ? process.stderr : process.stdout).write(`${text}\n`);
const folder = mkdtempSync(join(tmpdir(), "everturn-environments-"));
const [batchSize, groupSize] = [8, 2];

/** A protocol: its server, and the pipeline's environment. */
interface Protocol {
  server: PublishedServer;
  call: string;
  environment(url: string): JsonObject;
}

const rows = join(folder, "rows.jsonl");
writeFileSync(
  rows,
  Array.from({ length: 8 }, (_, index) => `${JSON.stringify(rowOf(3 + index))}\n`).join(""),
);

function rowOf(target: number): JsonObject {
  const properties = { amount: { type: "integer" } };
  const parameters = { type: "object", properties, required: ["amount"], additionalProperties: false };
  const add = { type: "function", name: "add", description: "Add to the total.", parameters, strict: true };
  const input = [{ role: "user", content: `Reach ${target}.` }];
  return { responses_create_params: { input, tools: [add] }, start: 0, target };
}

const protocols: Record<string, Protocol> = {
  openenv: {
    server: openenv,
    call: "step",
    environment: (url) => ({ plugin: "environment-openenv", config: { url }, validation: { limit: 1 } }),
  },
  nemoGym: {
    server: nemoGym,
    call: "add",
    environment: (url) => ({
      plugin: "environment-nemo-gym",
      config: { url, rows },
      validation: { limit: 1 },
    }),
  },
};

/** What is equal in two runs that made the same trajectories. */
function comparable({ turns, reward, success, outcome }: Trajectory): string {
  const made = turns.map(({ action, toolCalls }) => [
    action,
    toolCalls.map(({ tool, arguments: given, observation, valid }) => [tool, given, observation, valid]),
  ]);
  return JSON.stringify([made, reward, success, outcome]);
}

async function tried(name: string, { server: published, call, environment }: Protocol) {
  note(`${name}: installing ${published.name} if it is not cached`);
  const python = await pythonOf(published);
  const port = await freePort(0);
  const log = join(folder, `${name}.log`);
  const serve = (variables: Record<string, string> = {}) =>
    startPublished(published, { python, port, log, environment: variables });
  const runs = join(folder, name);
  const gates = join(runs, "gates");
  mkdirSync(gates, { recursive: true });
  const add = (amount: number) =>
    `<tool_call>${JSON.stringify({ name: call, arguments: { amount } })}</tool_call>`;
  const conversations = [
    [add(1), add(2), "I stop."],
    [add(1), add(5), "I stop."],
  ];
  const url = `http://127.0.0.1:${port}`;
  const settings = (more: JsonObject = {}) =>
    Object.entries({
      steps: 2,
      policy: scriptedPolicy({ conversations, gates }),
      environment: { ...environment(url), retry: { maximumAttempts: 3, initialInterval: "100ms" } },
      trainer: { plugin: "trainer-onnx", config: { learningRate: 1e-4, minibatchSize: batchSize } },
      rollout: { batchSize, groupSize, minGroup: 1, maxInfrastructureFailures: 1, maxActionTokens: 200 },
      evaluation: { every: 2, tasks: 1 },
      ...more,
    }).flatMap(([key, value]) => ["--set", `${key}=${JSON.stringify(value)}`]);
  const pipeline = join(import.meta.dirname, "..", "pipelines", "environment.yaml");
  const run = (place: string, ...more: string[]) =>
    start("run", pipeline, "--runs", join(runs, place), "--json", ...more);

  async function ended(command: ReturnType<typeof start>, place: string) {
    const { code, stdout, stderr } = await command.end();
    if (code !== 0) throw new Error(`${name}: the run failed: ${stderr.slice(-3000)}${stdout.slice(-1000)}`);
    const [id = ""] = await namesIn(join(runs, place));
    const { root } = runFolder(join(runs, place), id);
    const stages = ["step-0001", "step-0002", "evaluation-v0000", "evaluation-v0002"];
    const records = (await Promise.all(stages.map((stage) => stageRecords(root, stage)))).flat();
    return { root, records };
  }

  let server: StartedServer = await serve();
  try {
    note(`${name}: a run without failures`);
    const plain = await ended(run("plain", ...settings()), "plain");

    note(`${name}: the same run, everything of which is killed in the middle of its episodes`);
    writeFileSync(join(gates, "step-0001-turn-2"), "");
    const victim = run("killed", ...settings());
    let killed = 0;
    try {
      for (const end = Date.now() + 300_000; Date.now() < end; await sleep(100)) {
        const [id] = await namesIn(join(runs, "killed")).catch(() => []);
        if (
          id !== undefined &&
          callsRecorded(runFolder(join(runs, "killed"), id), "step-0001", 1) === batchSize
        )
          break;
      }
      await sleep(1000);
    } finally {
      killIfRunning(victim);
      server.kill();
      killed++;
    }
    rmSync(join(gates, "step-0001-turn-2"));
    server = await serve();
    const [id = ""] = await namesIn(join(runs, "killed"));
    const resumed = start("resume", id, "--runs", join(runs, "killed"), "--json");
    const again = await ended(resumed, "killed");
    const expected = new Map(
      plain.records.map((one) => [`${one.taskId}/${one.sample}/${one.stage}`, comparable(one)]),
    );
    const different = again.records.filter(
      (one) => expected.get(`${one.taskId}/${one.sample}/${one.stage}`) !== comparable(one),
    ).length;
    const missing = Math.abs(plain.records.length - again.records.length);

    note(`${name}: a run in which most episodes can't begin`);
    server.kill();
    server = await serve({ FAILING: "1,2,3,4,5,6,7" });
    const failing = await ended(run("failing", ...settings({ steps: 1 })), "failing");
    const isBegun = ({ turns }: Trajectory) => turns.length > 0;
    const masked = failing.records.filter(({ outcome }) => outcome === "left-out").length;
    const scoredZero = failing.records.filter((one) => one.outcome !== "left-out" && !isBegun(one)).length;
    const left = [plain, again, failing].flatMap(leasesOf).length;
    const steps = plain.records.length;
    note(
      `${name}: ${steps} trajectories, ${different + missing} of them differ after the kill; ${masked} excluded`,
    );
    return { steps, killed, different: different + missing, masked, scoredZero, left };
  } finally {
    server.kill();
  }
}

/** Processes that still work in this program's folder. */
function orphans(): number {
  const pids = readdirSync("/proc").filter((one) => /^\d+$/.test(one) && Number(one) !== process.pid);
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
    } catch {
      return false; // it has ended
    }
  }).length;
}

const wanted = positionals.length === 0 ? Object.keys(protocols) : positionals;
const counts: Record<string, number> = {};
let sums = { kills: 0, different: 0, maskedInfrastructure: 0, scoredZeroInfrastructure: 0, orphans: 0 };
for (const name of wanted) {
  const protocol = protocols[name];
  if (protocol === undefined)
    throw new Error(`there is no protocol ${name}: ${Object.keys(protocols).join(", ")}`);
  const { steps, killed, different, masked, scoredZero, left } = await tried(name, protocol);
  counts[name] = steps;
  sums = {
    kills: sums.kills + killed,
    different: sums.different + different,
    maskedInfrastructure: sums.maskedInfrastructure + masked,
    scoredZeroInfrastructure: sums.scoredZeroInfrastructure + scoredZero,
    orphans: sums.orphans + left,
  };
}
sums.orphans += orphans();
process.stdout.write(`${JSON.stringify({ ...counts, ...sums })}\n`);
const isRight =
  sums.different + sums.scoredZeroInfrastructure + sums.orphans === 0 && sums.maskedInfrastructure > 0;
if (isRight) rmSync(folder, { recursive: true, force: true });
else process.exitCode = 1;
