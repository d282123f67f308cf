import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { runFolder } from "../../../src/runs/run-folder.ts";
import { claimRun, clearSession, readSession, writeSession } from "../../../src/runs/session-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = runFolder(temporaryFolder(), "run");
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await clearSession(folder);
});

/** A process that waits, with these words on its command line. */
async function waiting(...words: string[]): Promise<ChildProcess & { pid: number }> {
  const code = "process.stdout.write('up'); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ["-e", code, "--", ...words], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  if (child.stdout !== null) await once(child.stdout, "data");
  return Object.assign(child, { pid: child.pid ?? -1 });
}

test("a run that nobody works on is claimed, and given back", async () => {
  await claimRun("run", folder);
  expect(await readSession(folder)).toEqual({ pid: process.pid });
  await clearSession(folder);
  expect(existsSync(folder.session)).toBe(false);
});

test("a run that another process works on is refused, and stays that one's", async () => {
  const { pid } = await waiting("src/cli/main.ts", "resume", "run");
  await writeSession(folder, { pid, address: "127.0.0.1:7233" });
  await expect(claimRun("run", folder)).rejects.toThrow(
    `The run run is being worked on by process ${pid}. Wait for it, or end that process first.`,
  );
  expect(await readSession(folder)).toMatchObject({ pid });
});

test("a run whose process was killed is taken over, and the server it left behind is ended", async () => {
  const killed = await waiting("src/cli/main.ts", "run");
  killed.kill("SIGKILL");
  await once(killed, "exit");
  const server = await waiting("--db-filename", folder.database);
  const ended = once(server, "exit");
  await writeSession(folder, { pid: killed.pid, address: "127.0.0.1:7233", server: server.pid });
  await claimRun("run", folder);
  expect(await ended).toEqual([null, "SIGTERM"]);
  expect(await readSession(folder)).toEqual({ pid: process.pid });
});

test("process ids that other programs have by now are left alone", async () => {
  const other = await waiting("another-program");
  await writeSession(folder, { pid: other.pid, address: "127.0.0.1:7233", server: other.pid });
  await claimRun("run", folder);
  expect(other.exitCode ?? other.signalCode).toBeNull();
});
