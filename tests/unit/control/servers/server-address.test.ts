import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "everturn/plugin";
import { afterAll, describe, expect, test } from "vitest";
import { serverVariable } from "../../../../src/control/servers/kept-process.ts";
import { serverAddress } from "../../../../src/control/servers/server-address.ts";
import { serverKey, serverStart } from "../../../../src/control/servers/server-start.ts";
import { endChild } from "../../../support/end-child.ts";
import { firstOutput } from "../../../support/first-output.ts";
import { killAll, processesMarked, processesWith } from "../../../support/processes.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const program = join(import.meta.dirname, "..", "..", "..", "fixtures", "small-server.py");
const user = join(import.meta.dirname, "..", "..", "..", "support", "server-user.ts");
const starts: JsonObject[] = [];

/** How a server of its own starts. */
function startOf(name: string, more: JsonObject = {}): JsonObject {
  const start = {
    command: ["python3", program, "{port}"],
    folder,
    environment: { GREETING: name },
    patience: 20,
    ...more,
  };
  starts.push(start);
  return start;
}

const keyOf = (start: JsonObject) => serverKey(serverStart(start, "/"));
const keepersOf = (start: JsonObject) => [...processesWith(`keeper-main.ts ${keyOf(start)}`).keys()];
const serversOf = (start: JsonObject) => processesMarked(serverVariable, keyOf(start));
const addressOf = (start: JsonObject, signal?: AbortSignal) =>
  serverAddress({ start }, { ready: "/", signal });
const pidAt = async (url: string) => Number.parseInt(await (await fetch(url)).text(), 10);

afterAll(() => {
  killAll(starts.flatMap(keepersOf), "SIGTERM");
});

test("an address in the configuration is used as it is, and one of the two is needed", async () => {
  expect(await serverAddress({ url: "http://127.0.0.1:8000/" })).toBe("http://127.0.0.1:8000");
  for (const config of [{}, { url: "http://127.0.0.1:1", start: startOf("both") }])
    await expect(serverAddress(config)).rejects.toThrow("either a server's address or “start”");
  const start = { command: ["python3", program] };
  await expect(serverAddress({ start })).rejects.toThrow(
    /`start.command` \(python3 .* names no port: write {port}/,
  );
});

test("two processes share a server, which has its variables and restarts at the same address", async () => {
  const start = startOf("shared");
  const url = await addressOf(start);
  const other = spawn(process.execPath, [user, JSON.stringify(start)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    expect((await firstOutput(other)).trim()).toBe(url);
    expect(keepersOf(start)).toHaveLength(1);
    expect(await (await fetch(url)).text()).toMatch(/^\d+ shared$/);
    const first = await pidAt(url);
    process.kill(first, "SIGKILL");
    await expect.poll(() => pidAt(url).catch(() => first), { timeout: 20_000 }).not.toBe(first);
    expect(await addressOf(start)).toBe(url);
  } finally {
    await endChild(other, "SIGKILL");
  }
});

test("a server ends with a keeper that is killed, and the next call starts another one", async () => {
  const start = startOf("killed");
  const first = await pidAt(await addressOf(start));
  for (const keeper of keepersOf(start)) process.kill(keeper, "SIGKILL");
  await expect.poll(() => serversOf(start), { timeout: 20_000 }).toEqual([]);
  const another = async () => pidAt(await addressOf(start)).catch(() => first); // its end may not be known yet
  await expect.poll(another, { timeout: 20_000 }).not.toBe(first);
});

describe("a server that does not start is reported with the reason", () => {
  test.each([
    ["no program", { command: ["no-such-program", "{port}"] }, "it ended (exit code 127)", "no-such-program"],
    [
      "an early end",
      { command: ["python3", "-c", "raise SystemExit('the port {port} is in use')"] },
      "it ended (exit code 1)",
      "is in use",
    ],
    [
      "no answer",
      { command: ["python3", program, "{port}", "60"], patience: 0.5 },
      "it did not answer / within 0.5 s",
      "`start.patience`",
    ],
    ["no folder", { folder: join(folder, "absent") }, "it ended", "absent"],
    [
      "an absent package",
      { requirements: ["./absent.whl"] },
      "can't be installed (./absent.whl)",
      "there is no",
    ],
    [
      "an absent list",
      { requirements: ["-r absent.txt"] },
      "can't be installed (-r absent.txt)",
      "there is no",
    ],
  ])("%s", async (name, more, ...texts) => {
    const start = startOf(name, more);
    const message = await addressOf(start).catch(({ message: said }) => said);
    for (const text of texts) expect(message).toContain(text);
    await expect.poll(() => serversOf(start), { timeout: 20_000 }).toEqual([]);
  });
});

test("a Python that is not there is reported with those that are", async () => {
  const withoutUv = startOf("python", { python: "3.99", environment: { A: "{port}" } });
  const message = await addressOf(withoutUv).catch(({ message: said }) => said);
  expect(message).toMatch(/Python 3\.99/);
});

test("a caller that gives up does not end the start", async () => {
  const start = startOf("patient", { command: ["python3", program, "{port}", "1"] });
  await expect(addressOf(start, AbortSignal.timeout(300))).rejects.toThrow("aborted");
  await sleep(100);
  expect(await pidAt(await addressOf(start))).toBeGreaterThan(0);
});
