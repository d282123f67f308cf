import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { ownIdentity, processIdentity } from "../../../../src/base/processes/process-identity.ts";
import { claimRun } from "../../../../src/control/supervision/claim-run.ts";
import {
  heldRunAddress,
  liveRunHolder,
  type RunHolder,
  readRunHolder,
} from "../../../../src/control/supervision/run-holder.ts";
import { holderClaim } from "../../../../src/run/folder/holder-claim.ts";
import { runFolder } from "../../../../src/run/folder/run-folder.ts";
import { inProcessSpace, mayMakeProcessSpace } from "../../../support/process-space.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitingProcess } from "../../../support/waiting-process.ts";

const runs = temporaryFolder();
const folder = runFolder(runs, "run");
mkdirSync(folder.root);
const address = "127.0.0.1:7233";
const host = hostname();
const write = (holder: RunHolder) => writeFileSync(folder.holder, JSON.stringify(holder));

interface Holder {
  child: ChildProcess;
  said(): string;
  ended: Promise<unknown>;
}

/** A process that works on the run: in this machine's space, or in a container's own. */
function startHolder(where: "here" | "container", silence = ""): Holder {
  const script = join(import.meta.dirname, "..", "..", "..", "support", "holding-process.ts");
  const command = [
    ...(where === "here" ? [] : inProcessSpace),
    process.execPath,
    script,
    runs,
    "run",
    silence,
  ];
  const child = spawn(command[0] ?? "", command.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (text: Buffer) => (said += text));
  return { child, said: () => said, ended: once(child, "close") };
}

async function until(holder: Holder, text: string): Promise<void> {
  await vi.waitUntil(() => holder.said().includes(text), { timeout: 100_000 });
}

afterEach(async () => {
  const holder = await readRunHolder(folder);
  if (holder !== undefined)
    writeFileSync(folder.holder, JSON.stringify({ process: { ...ownIdentity(), pid: 0 } }));
});

test("a run that nobody works on is claimed, told of, and given back", async () => {
  const held = await claimRun("run", folder);
  expect(await readRunHolder(folder)).toEqual({ process: ownIdentity(), host: hostname() });
  await held.tell({ address });
  expect(await heldRunAddress(folder)).toBe(address);
  await held.release();
  expect(existsSync(folder.holder)).toBe(false);
});

test("a run that another process works on is refused, and stays that one's", async () => {
  const { pid } = await waitingProcess("any program");
  const holder = { process: processIdentity(pid) ?? ownIdentity(), host, address };
  write(holder);
  await expect(claimRun("run", folder)).rejects.toThrow(
    `Process ${pid} is already working on the run run. Wait for it, or stop that process first.`,
  );
  expect(await liveRunHolder(folder)).toEqual(holder);
});

test("a run whose process was killed is taken over, and the server it left behind is ended", async () => {
  const killed = await waitingProcess("any program");
  const owner = processIdentity(killed.pid) ?? ownIdentity();
  killed.child.kill("SIGKILL");
  await once(killed.child, "exit");
  const server = await waitingProcess("any server");
  const ended = once(server.child, "exit");
  write({ process: owner, host, address, server: processIdentity(server.pid) ?? ownIdentity() });
  expect(await heldRunAddress(folder)).toBeUndefined();
  utimesSync(folder.holder, 1000, 1000); // its last sign of life
  const held = await claimRun("run", folder);
  expect(held.diedAt).toBe(1_000_000);
  expect(await ended).toEqual([null, "SIGTERM"]);
  await held.release();
});

test("process ids that other programs have by now are left alone", async () => {
  const { child, pid } = await waitingProcess("another-program");
  const earlier = { ...ownIdentity(), pid, started: "1" };
  write({ process: earlier, host, address, server: earlier });
  await (await claimRun("run", folder)).release();
  expect(child.exitCode ?? child.signalCode).toBeNull();
});

test("of two that find a dead holder one gets the run", async () => {
  write({ process: { ...ownIdentity(), started: "1" }, host });
  const holders = [startHolder("here"), startHolder("here"), startHolder("here")];
  await vi.waitUntil(() => holders.every(({ said }) => /holds it|working on the run/.test(said())), {
    timeout: 100_000,
  });
  expect(holders.filter(({ said }) => said().includes("holds it"))).toHaveLength(1);
});

test("a process that died before it replaced a dead holder stops no other", async () => {
  const dead = { process: { ...ownIdentity(), started: "1" }, host };
  write(dead);
  const claim = holderClaim(folder, dead, 1);
  writeFileSync(claim, JSON.stringify({ process: { ...ownIdentity(), started: "2" }, host }));
  const held = await claimRun("run", folder);
  expect(await readRunHolder(folder)).toEqual({ process: ownIdentity(), host });
  expect(readdirSync(folder.root).filter((name) => name.startsWith("session.json"))).toEqual([
    "session.json",
  ]);
  await held.release();
});

test("a run that changes hands tells the process that held it, which then leaves it alone", async () => {
  const held = await claimRun("run", folder);
  const other = { process: { pid: 7, started: "1", machine: "elsewhere" }, host: "elsewhere" };
  write(other);
  await expect(held.taken).rejects.toThrow("Process 7 on elsewhere took over the run run");
  await expect(held.tell({ address })).rejects.toMatchObject({ code: "RUN_TAKEN_OVER" });
  await held.release();
  expect(await readRunHolder(folder)).toEqual(other);
});

test.skipIf(!mayMakeProcessSpace)(
  "a container leaves a run alone that lives outside of it, and takes over one that died",
  async () => {
    const alive = startHolder("here");
    await until(alive, "holds it");
    const refused = startHolder("container", "6000");
    await refused.ended;
    expect(refused.said()).toContain(`Process ${alive.child.pid} on ${hostname()} is working on the run run`);
    expect(await liveRunHolder(folder)).toMatchObject({ process: { pid: alive.child.pid } });

    alive.child.kill("SIGKILL");
    await alive.ended;
    const taker = startHolder("container", "3000");
    await until(taker, "holds it");
    expect(taker.said()).toContain(`${hostname()} was working on run: checking for 3 s whether it still is`);
    expect(await liveRunHolder(folder), "it can't be seen from here").toBeUndefined();
    await expect(claimRun("run", folder, { silence: 6000 })).rejects.toMatchObject({
      code: "RUN_HELD_ELSEWHERE",
    });
  },
  60_000,
);
