import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import type { PayloadCodec } from "@temporalio/common";
import { codecKeys } from "../../src/control/encryption/codec-keys.ts";
import { encryptionCodec } from "../../src/control/encryption/encryption-codec.ts";
import { connectClient } from "../../src/control/temporal/client.ts";
import { check, type Findings } from "../chaos/check.ts";
import { leftLeases } from "../chaos/check-store.ts";
import { writeHistories } from "../chaos/export-histories.ts";
import { markedProcesses } from "../chaos/marked-processes.ts";
import { mirrorRun } from "./mirror.ts";
import { store, type World } from "./world.ts";

/** Longer than a worker takes to end after its parent. */
const endingTime = 20_000;

/** Generations on the second machine have ids of processes from here on: each machine counts its own. */
const pidsOfMachine = 100_000_000;

/**
 * Collects what ended runs have left in the store, on Temporal's server and on the machines into `work`/checked, ends
 * the servers of Temporal and tools, and checks it.
 */
export async function whatIsLeft(options: {
  world: World;
  client: S3Client;
  work: string;
  mark: string;
  runs: readonly string[];
}): Promise<Findings> {
  const { world, client, work, mark, runs } = options;
  const { machines, tools, temporal } = world;
  const checked = join(work, "checked");
  for (const run of runs) {
    await pruneRun(world, run);
    await mirrorRun({ client, store, run, folder: join(checked, "runs", run), wanted: () => true });
    await collectHistories(world, run, join(checked, "histories", run));
  }
  await tools.stop();
  await temporal.kill();
  for (let waited = 0; waited < endingTime && markedProcesses(mark).length > 0; waited += 500)
    await sleep(500);
  const disks = machines.map(({ disk }) => disk);
  collectLines("calls.jsonl", [work, ...disks], checked);
  collectLines("generations.jsonl", disks, checked);
  const findings = await check(checked, mark);
  findings.orphans.push(
    ...machines.flatMap(({ name, disk }) => leasesOn(disk).map((one) => `${name}: ${one}`)),
  );
  return findings;
}

/** Does what retention has left to do: what a kill kept the run from. */
async function pruneRun({ machines }: World, run: string): Promise<void> {
  const code = await machines[0]?.start(["prune", run], "cli.log").ended;
  if (code !== 0) throw new Error(`everturn prune ${run} ended with exit code ${code}`);
}

/** Instances of tools that nobody gave back; the folders of the store's runs hold none. */
function leasesOn(disk: string): string[] {
  return leftLeases(join(disk, "state")).filter((name) => !name.includes("everturn/stores/"));
}

/** Puts the lines of files of this name together, in the order of their times. */
function collectLines(name: string, folders: readonly string[], target: string): void {
  const lines = folders.flatMap((folder, index) => {
    return linesOf(join(folder, name)).map((line): { time: number; pid: number } => {
      const { pid, ...rest } = JSON.parse(line);
      return { ...rest, pid: index * pidsOfMachine + pid };
    });
  });
  lines.sort((a, b) => a.time - b.time);
  writeFileSync(join(target, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** The whole lines of a file; none if it is not there. */
export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

async function collectHistories({ temporal, codecKeys: keys }: World, run: string, folder: string) {
  const all = codecKeys({ EVERTURN_CODEC_KEYS: keys });
  const [key] = all;
  if (key === undefined) throw new Error("there is no key");
  const codec = encryptionCodec({ key, keys: all, who: "this program" });
  const closing = new AbortController();
  const location = { address: temporal.address, namespace: "default", isOwn: true };
  const { client, close } = await connectClient(location, [], closing.signal);
  await writeHistories(client, run, folder, (history) => decrypted(history, codec));
  closing.abort();
  await close();
  if (readdirSync(folder).length === 0) throw new Error(`Temporal has no workflows of ${run}`);
}

/** The same JSON, in which encrypted payloads are replaced by what they hold. Throws CODEC_KEY_MISSING and CODEC_KEY_WRONG. */
async function decrypted(value: unknown, codec: PayloadCodec): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((one) => decrypted(one, codec)));
  if (typeof value !== "object" || value === null) return value;
  if ("metadata" in value && "data" in value && typeof value.data === "string") {
    const metadata = Object.entries(value.metadata ?? {}).map(([name, text]) => [
      name,
      bytesIn(String(text)),
    ]);
    const payload = { metadata: Object.fromEntries(metadata), data: bytesIn(value.data) };
    const [plain] = await codec.decode([payload]);
    return { ...value, data: Buffer.from(plain?.data ?? []).toString("base64") };
  }
  const entries = Object.entries(value).map(async ([name, one]) => [name, await decrypted(one, codec)]);
  return Object.fromEntries(await Promise.all(entries));
}

function bytesIn(base64: string): Uint8Array {
  return Buffer.from(base64, "base64");
}
