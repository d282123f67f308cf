import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Behaviour } from "./object-server.ts";

const main = join(import.meta.dirname, "object-server.ts");

/** Starts an object store, which ends with the test; local copies are kept below `folder`. */
export async function startObjects(
  folder: string,
  behaviour: Partial<Behaviour> = {},
): Promise<{ port: number; cache: string }> {
  const all: Behaviour = { seed: 1, latency: 3, failures: 0.1, lag: 150, ...behaviour };
  const server = spawn(process.execPath, [main, JSON.stringify(all)], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => {
    server.kill("SIGKILL");
  });
  const [port] = await once(server.stdout.setEncoding("utf8"), "data");
  return { port: Number(port), cache: mkdtempSync(join(folder, "cache-")) };
}

/** Writes over an object, as nobody may. */
export async function spoilObject(port: number, path: string, content: string): Promise<void> {
  const url = `http://127.0.0.1:${port}/${path.split("/").map(encodeURIComponent).join("/")}`;
  for (;;) {
    const answer = await fetch(url, { method: "PUT", body: content }).catch(() => undefined);
    if (answer?.status === 200) return;
  }
}
