import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { withLiveRun } from "../../src/control/supervision/run-client.ts";
import { readRunHolder } from "../../src/control/supervision/run-holder.ts";
import { liveTrajectories } from "../../src/control/temporal/live-trajectories.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { exportHistories } from "../chaos/export-histories.ts";
import { killIfRunning, lastLine, type RunningCommand, startWith } from "../support/command.ts";
import { readablePlaces } from "../support/readable-places.ts";
import { scriptedPolicy, writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** In every prompt, action, observation, question, answer and failure. */
const marker = "zebrafinch7421";

const root = join(import.meta.dirname, "..", "..");
const entry = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;
const call = (name: string, given: object) =>
  `<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`;
const waits = { timeout: 600_000, interval: 500 };

/** Runs a whole pipeline with a person's answer, a retried failure and a lost trajectory, full of the marker. */
async function markedRun(keys: string | undefined) {
  const folder = temporaryFolder();
  const runs = join(folder, "runs");
  const env: Record<string, string> = keys === undefined ? {} : { EVERTURN_CODEC_KEYS: keys };
  vi.stubEnv("EVERTURN_CODEC_KEYS", keys);
  const tasks = join(folder, "tasks.jsonl");
  const task = {
    data_source: "scripted",
    prompt: [{ role: "user", content: `Say ${marker}.` }],
    reward_model: { ground_truth: marker },
  };
  writeFileSync(tasks, `${JSON.stringify(task)}\n`);
  const dataset = { plugin: "dataset-jsonl", config: { path: tasks } };
  const pipeline = writeScriptedPipeline(folder, [], {
    policy: scriptedPolicy({
      conversations: [
        [call("vault", { text: marker }), marker],
        [call("ask", { question: `Is it ${marker}?` }), marker],
        [call("vault", { text: marker, lost: true }), marker],
      ],
    }),
    dataset: { train: dataset, validation: dataset },
    tools: [
      { plugin: join(root, "tests", "plugins", "tool-vault.ts") },
      { plugin: join(root, "plugins", "tool-ask"), whom: "the reviewers" },
    ],
    rollout: { batchSize: 3, groupSize: 3, minGroup: 1, maxActionTokens: 200 },
  });
  const command = startWith(env, "run", pipeline, "--runs", runs);
  onTestFinished(() => killIfRunning(command));
  const everturn = (...parameters: string[]) => startWith(env, ...parameters, "--runs", runs).end();
  const run = await vi.waitUntil(() => existsSync(runs) && readdirSync(runs)[0], waits);
  const id = `${run}/step-0001/task-00000/1`;
  await untilAsked({ command, runs, run, id });
  return { runs, run, id, folder: runFolder(runs, run), command, everturn };
}

type Place = Awaited<ReturnType<typeof markedRun>>;

/** Waits until the trajectory waits for its answer. */
async function untilAsked({ command, runs, run, id }: Pick<Place, "command" | "runs" | "run" | "id">) {
  await vi.waitUntil(async () => {
    if (command.child.exitCode !== null) throw new Error((await command.end()).stderr);
    const waiting = withLiveRun({ runs, run }, (client) => liveTrajectories(client, run, true));
    return (await waiting.catch((): string[] => [])).includes(id); // its server may not be up yet
  }, waits);
}

async function answered({ command, everturn, id }: Place): Promise<string> {
  const order = await everturn("trajectory", "answer", id, `It is ${marker}.`);
  expect(order.code, order.stderr).toBe(0);
  const { code, stdout, stderr } = await command.end();
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

/** The places of the marker on the server: its database and its log, and histories as the server returns them. */
async function readable({ runs, run, folder }: Place) {
  const histories = join(folder.root, "..", "..", "histories");
  await exportHistories(runs, run, histories);
  const server = readdirSync(folder.root).filter((name) => name.startsWith("temporal.db"));
  expect(server).toContain("temporal.db");
  const exported = readdirSync(histories).map((name) => join(histories, name));
  expect(exported.length).toBeGreaterThan(4);
  return {
    server: readablePlaces(
      [...server.map((name) => join(folder.root, name)), folder.log("temporal")],
      marker,
    ),
    histories: readablePlaces(exported, marker),
    keys: keyIds(exported),
  };
}

/** The ids of the keys that encrypted payloads of exported histories. */
function keyIds(files: string[]): string[] {
  const ids = files.flatMap((file) => [
    ...readFileSync(file, "utf8").matchAll(/"encryption-key-id":"([^"]+)"/g),
  ]);
  const names = ids.map(([, id = ""]) => Buffer.from(id, "base64").toString());
  return [...new Set(names)].sort();
}

test("without keys, prompts and actions can be found on the server: the check finds them", async () => {
  const place = await markedRun(undefined);
  await answered(place);
  const { server, histories } = await readable(place);
  expect(server).toContainEqual(expect.stringMatching(/temporal\.db\S*: plain of /));
  expect(histories).toContainEqual(expect.stringMatching(/\.json: base64/));
});

test("with keys, nothing of a prompt, an action or an observation is readable on the server, and all else works", {
  timeout: 1_800_000,
}, async () => {
  const old = entry("old");
  const place = await markedRun(old);
  const { runs, run, id, folder } = place;

  const other = { EVERTURN_CODEC_KEYS: entry("other") };
  const worker = await startWith(other, "worker", "--role", "tools", "--run", run, "--runs", runs).end();
  expect(worker.code).toBe(1);
  expect(worker.stderr).toMatch(
    new RegExp(
      `The tools worker of ${run} on \\S+ can't decrypt the payloads of ${run}: EVERTURN_CODEC_KEYS does not contain the key “old”`,
    ),
  );
  const { server } = (await readRunHolder(folder)) ?? {};
  expect(readFileSync(`/proc/${server?.pid}/environ`, "utf8"), "the server").not.toContain(
    "EVERTURN_CODEC_KEYS",
  );

  expect(await shownByTemporal(place, old)).toContain(`Is it ${marker}?`);
  await vi.waitUntil(
    () => /waiting for vault .*the vault lost zebrafinch7421/.test(place.command.stdout()),
    waits,
  );
  place.command.killGroup();
  await place.command.end();

  const rotated = `${entry("new")},${old}`;
  vi.stubEnv("EVERTURN_CODEC_KEYS", rotated);
  const env = { EVERTURN_CODEC_KEYS: rotated };
  const resumed: Place = {
    ...place,
    command: startWith(env, "resume", run, "--runs", runs),
    everturn: (...parameters) => startWith(env, ...parameters, "--runs", runs).end(),
  };
  onTestFinished(() => killIfRunning(resumed.command));
  await untilAsked(resumed);
  await answered(resumed);

  expect(await readable(resumed)).toEqual({ server: [], histories: [], keys: ["new", "old"] });
  const replayed = await resumed.everturn("replay", id, "--json");
  expect(lastLine(replayed.stdout)).toMatchObject({ deterministic: true });
});

/** A trajectory's history in Temporal's own command line, through `everturn codec serve`. */
async function shownByTemporal({ folder, id }: Place, keys: string): Promise<string> {
  const env = { EVERTURN_CODEC_KEYS: keys };
  const codec: RunningCommand = startWith(env, "codec", "serve", "--port", "0");
  onTestFinished(() => killIfRunning(codec));
  const endpoint = await vi.waitUntil(() => /codec endpoint: (\S+)/.exec(codec.stdout())?.[1], waits);
  const { address = "" } = (await readRunHolder(folder)) ?? {};
  const show = ["workflow", "show", "--address", address, "-w", id, "--output", "json"];
  const shown = promisify(execFile)(await findServerBinary(), [...show, "--codec-endpoint", endpoint]);
  const payloads = [...(await shown).stdout.matchAll(/"data": "([^"]+)"/g)];
  codec.child.kill("SIGINT");
  expect((await codec.end()).code).toBe(0);
  return payloads.map(([, data = ""]) => Buffer.from(data, "base64").toString()).join("\n");
}
