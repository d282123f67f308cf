import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isSystemError } from "../../base/errors/system-error.ts";
import { kernelText } from "../../base/processes/kernel-text.ts";
import { defaultLimits } from "./limits.ts";
import type { SandboxLimits } from "./sandbox.ts";

/** Limits all processes of a sandbox together. */
export interface ControlGroup {
  /** The files to which a process writes its id to join the group. */
  processFiles: string[];
  /** The number of its processes that the kernel killed because memory ran out. */
  kills(): number;
  /** The number of processes that the kernel refused to start because the group had as many as it may. */
  refusals(): number;
  /** Removes it when its processes have ended, which takes a moment. */
  remove(): Promise<void>;
}

/** Makes control groups: in version 2, or with the controllers memory and pids of version 1. */
export interface ControlGroups {
  make(limits: SandboxLimits): ControlGroup;
}

const root = "/sys/fs/cgroup";
const prefix = "everturn-sandbox-";
/** The MiB of the driver and bubblewrap themselves. */
const own = 64;

/** Returns how to make control groups here. Undefined if this process may not make any. */
export async function controlGroups(): Promise<ControlGroups | undefined> {
  const make = isVersion2() ? inVersion2 : inVersion1;
  const ways = {
    make: (limits: SandboxLimits) =>
      make(`${prefix}${process.pid}-${randomBytes(6).toString("hex")}`, limits),
  };
  try {
    sweep();
    await ways.make(defaultLimits).remove();
    return ways;
  } catch {
    return undefined; // not root, or read-only: only the driver enforces the limits
  }
}

function isVersion2(): boolean {
  return existsSync(join(root, "cgroup.controllers"));
}

function inVersion2(name: string, { memory, disk, processes }: SandboxLimits): ControlGroup {
  const folder = join(root, name);
  mkdirSync(folder);
  try {
    write(folder, "memory.max", bytes(memory + own + 2 * disk));
    write(folder, "pids.max", String(processes + own));
    if (existsSync(join(folder, "memory.swap.max"))) write(folder, "memory.swap.max", "0");
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
  return groupOf([folder], join(folder, "memory.events"), join(folder, "pids.events"));
}

function inVersion1(name: string, { memory, disk, processes }: SandboxLimits): ControlGroup {
  const folders = ["memory", "pids"].map((controller) => join(root, controller, name));
  const made: string[] = [];
  try {
    for (const folder of folders) {
      mkdirSync(folder);
      made.push(folder);
    }
    const [ofMemory = "", ofProcesses = ""] = folders;
    write(ofMemory, "memory.limit_in_bytes", bytes(memory + own + 2 * disk));
    write(ofProcesses, "pids.max", String(processes + own));
    return groupOf(folders, join(ofMemory, "memory.oom_control"), join(ofProcesses, "pids.events"));
  } catch (error) {
    for (const folder of made) rmdirSync(folder);
    throw error;
  }
}

function groupOf(folders: string[], memoryEvents: string, processEvents: string): ControlGroup {
  return {
    processFiles: folders.map((folder) => join(folder, "cgroup.procs")),
    kills: () => counted(memoryEvents, /^oom_kill (\d+)$/m),
    refusals: () => counted(processEvents, /^max (\d+)$/m),
    remove: async () => {
      for (const folder of folders)
        for (let tries = 0; !removed(folder) && tries < 200; tries++) await setTimeout(10);
    },
  };
}

/** The number in a file of a group; 0 if the group is gone. */
function counted(file: string, pattern: RegExp): number {
  return Number(pattern.exec(kernelText(file))?.[1] ?? 0);
}

function write(folder: string, file: string, text: string): void {
  writeFileSync(join(folder, file), text);
}

function bytes(mebibytes: number): string {
  return String(mebibytes * 1024 * 1024);
}

/** Removes empty groups that the sandboxes of ended processes left behind. */
function sweep(): void {
  for (const parent of isVersion2() ? [root] : [join(root, "memory"), join(root, "pids")]) {
    for (const name of readdirSync(parent).filter((one) => one.startsWith(prefix))) {
      const pid = name.slice(prefix.length).split("-")[0] ?? "";
      if (!existsSync(join("/proc", pid))) removed(join(parent, name));
    }
  }
}

/** Tries to remove a group. False while a process in it ends. */
function removed(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return true;
    if (isSystemError(error, "EBUSY")) return false;
    throw error;
  }
}
