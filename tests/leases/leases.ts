// npm run leases -- [--json] [--kills 100] [--engine podman]: kills processes that hold containers, at random moments and
// half of them together with the engine's clients, and counts the containers that are left. The last line is the result.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { isSystemError } from "../../src/base/errors/system-error.ts";
import { sendSignal } from "../../src/base/processes/send-signal.ts";
import { reap } from "../../src/work/sandbox/containers/leases.ts";
import { engineImage } from "../support/engine-image.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    kills: { type: "string", default: "100" },
    engine: { type: "string", default: "podman" },
  },
});
const kind = values.engine === "docker" ? "docker" : "podman";
const image = await engineImage(kind);
if (image === undefined) process.exit(1);
const script = join(import.meta.dirname, "..", "support", "container-holder.ts");
const kills = Number(values.kills);
const [each, atOnce] = [2, 4];
const print = (text: string) => values.json || process.stdout.write(`${text}\n`);

let killed = 0;
let held = 0;
let slowest = 0;
await Promise.all(Array.from({ length: atOnce }, worker));
const left = containers().length;
const removed = await reap(kind);
const orphans = containers().length;
execFileSync(kind, ["rmi", "--force", image], { stdio: "ignore" });
const result = {
  engine: execFileSync(kind, ["--version"], { encoding: "utf8" }).trim(),
  kills: killed,
  containers: held,
  leftBeforeReaping: left,
  removed,
  orphans,
  slowestSeconds: Math.round(slowest * 10) / 10,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exitCode = orphans === 0 ? 0 : 1;

async function worker(): Promise<void> {
  while (killed < kills) {
    const number = killed++;
    const holder = spawn(process.execPath, [script, kind, image ?? "", String(each)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const holds = once(createInterface({ input: holder.stdout }), "line");
    // Every fourth is killed while it starts, the others while their containers work.
    if (number % 4 === 3) await sleep(500 + 3000 * Math.random());
    else {
      await holds;
      held += each;
      await sleep(300 * Math.random());
    }
    const clients = number % 2 === 1 ? childrenOf(holder.pid ?? 0) : [];
    for (const pid of [holder.pid ?? 0, ...clients]) sendSignal(pid, "SIGKILL");
    const began = performance.now();
    while (containers(holder.pid).length > 0 && performance.now() - began < 60_000) await sleep(100);
    const seconds = (performance.now() - began) / 1000;
    slowest = Math.max(slowest, seconds);
    print(`kill ${number + 1}: ${containers(holder.pid).length} left after ${seconds.toFixed(1)} s`);
  }
}

/** The containers of a holder, or of all. */
function containers(pid?: number): string[] {
  const label = pid === undefined ? "label=everturn.holder" : `label=everturn.holder=${pid}`;
  const printed = execFileSync(kind, ["ps", "--all", "--quiet", "--filter", label], { encoding: "utf8" });
  return printed.split("\n").filter((line) => line !== "");
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}
