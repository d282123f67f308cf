import { once } from "node:events";
import { existsSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { runFolder } from "../../../src/runs/run-folder.ts";
import { claimRun, clearSession, readSession, writeSession } from "../../../src/runs/session-file.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { waitingProcess } from "../../support/waiting-process.ts";

const folder = runFolder(temporaryFolder(), "run");
const address = "127.0.0.1:7233";

afterEach(() => clearSession(folder));

test("a run that nobody works on is claimed, and given back", async () => {
  await claimRun("run", folder);
  expect(await readSession(folder)).toEqual({ pid: process.pid });
  await clearSession(folder);
  expect(existsSync(folder.session)).toBe(false);
});

test("a run that another process works on is refused, and stays that one's", async () => {
  const { pid } = await waitingProcess("src/cli/main.ts", "resume", "run");
  await writeSession(folder, { pid, address });
  await expect(claimRun("run", folder)).rejects.toThrow(
    `The run run is being worked on by process ${pid}. Wait for it, or end that process first.`,
  );
  expect(await readSession(folder)).toMatchObject({ pid });
});

test("a run whose process was killed is taken over, and the server it left behind is ended", async () => {
  const killed = await waitingProcess("src/cli/main.ts", "run");
  killed.child.kill("SIGKILL");
  await once(killed.child, "exit");
  const server = await waitingProcess("--db-filename", folder.database);
  const ended = once(server.child, "exit");
  await writeSession(folder, { pid: killed.pid, address, server: server.pid });
  await claimRun("run", folder);
  expect(await ended).toEqual([null, "SIGTERM"]);
  expect(await readSession(folder)).toEqual({ pid: process.pid });
});

test("process ids that other programs have by now are left alone", async () => {
  const { child, pid } = await waitingProcess("another-program");
  await writeSession(folder, { pid, address, server: pid });
  await claimRun("run", folder);
  expect(child.exitCode ?? child.signalCode).toBeNull();
});
