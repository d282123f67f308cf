import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { childrenOf, markName } from "../chaos/marked-processes.ts";
import { endChild } from "../support/end-child.ts";

const main = join(import.meta.dirname, "..", "..", "src", "apps", "cli", "main.ts");

/** The address of all servers. Each machine has a wire of its own to it. */
export const serverHost = "10.11.0.1";

/** A command on a machine. */
export interface MachineCommand {
  /** Its exit code; 128 and the signal's number after a signal. */
  ended: Promise<number>;
  /** Asks it to end. */
  terminate(): void;
}

/** A machine: namespaces of its own for mounts, processes, network and host name. */
export interface Machine {
  name: string;
  /** Its disk, as this program sees it. The machine sees it in the work folder's place, and can't write elsewhere. */
  disk: string;
  /** Starts `everturn …parameters`; its output is appended to `log` on the disk. */
  start(parameters: readonly string[], log: string): MachineCommand;
  /** The id that a process of this machine has on it; undefined if it is none. */
  ownPid(pid: number): number | undefined;
  /** What it sees in the work folder's place. */
  look(): string[];
  /** Takes its wire down, or up. */
  wire(state: "down" | "up"): void;
  stop(): Promise<void>;
}

/** Prepares the network of this process: the servers' address, which no wire can take down. */
export function prepareNetwork(): void {
  execFileSync("ip", ["link", "set", "lo", "up"]);
  execFileSync("ip", ["address", "add", `${serverHost}/32`, "dev", "lo"]);
}

/**
 * Starts the machine with a number from 1, in whose place `work` there is only its own disk. All of its commands carry
 * `mark` and have `env`, and no other variables of this process.
 */
export async function startMachine(
  number: number,
  { work, mark, env }: { work: string; mark: string; env: Record<string, string> },
): Promise<Machine> {
  const name = `machine-${number}`;
  const disk = join(work, name);
  for (const folder of ["home", "temporary"]) mkdirSync(join(disk, folder), { recursive: true });
  const setUp = `hostname ${name} && mount --bind ${disk} ${work} && mount -o remount,bind,ro / && ip link set lo up && echo ready`;
  // Bash waits for every process whose parent has died, as the first process of a machine has to.
  const spaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--mount-proc", "--kill-child"];
  const space = spawn("unshare", [...spaces, "bash", "-c", `${setUp} && { sleep infinity & wait; }`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(space.stdout, "data");
  const [first] = childrenOf(space.pid ?? 0);
  if (first === undefined) throw new Error(`${name} has ended`);
  const enter = ["--target", String(first), "--mount", "--net", "--uts", "--ipc", "--pid", "--no-fork"];
  const ip = (...parameters: string[]) =>
    execFileSync("nsenter", ["--target", String(first), "--net", "ip", ...parameters]);
  const [near, far] = [`10.11.${number}.1`, `10.11.${number}.2`];
  execFileSync("ip", ["link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", String(first)]);
  execFileSync("ip", ["address", "add", `${near}/24`, "dev", name]);
  execFileSync("ip", ["link", "set", name, "up"]);
  ip("address", "add", `${far}/24`, "dev", "eth0");
  ip("link", "set", "eth0", "up");
  ip("route", "add", "default", "via", near);
  const own = {
    ...env,
    PATH: process.env.PATH ?? "",
    HOME: join(work, "home"),
    XDG_CACHE_HOME: join(work, "home", ".cache"),
    XDG_STATE_HOME: join(work, "state"),
    TMPDIR: join(work, "temporary"),
    NODE_COMPILE_CACHE: join(work, "home", ".cache", "node"),
  };
  return {
    name,
    disk,
    start: (parameters, log) => {
      const output = openSync(join(disk, log), "a");
      const command = ["env", "-C", work, `${markName}=${mark}`, process.execPath, main, ...parameters];
      // The shell stays outside of the machine's processes, and does not stop when its child is stopped.
      const child = spawn("nsenter", [...enter, "sh", "-c", '"$@" & wait $!', "sh", ...command], {
        stdio: ["ignore", output, output],
        env: own,
        detached: true, // a group that loses its parent while a member is stopped gets SIGHUP
      });
      closeSync(output);
      return { ended: once(child, "exit").then(([code]) => code ?? 1), terminate: () => terminate(child) };
    },
    ownPid: (pid) => idBeside(pid, first),
    look: () =>
      String(execFileSync("nsenter", [...enter, "ls", work]))
        .trim()
        .split("\n"),
    wire: (state) => void execFileSync("ip", ["link", "set", name, state]),
    stop: () => endChild(space, "SIGKILL"),
  };
}

/** The id that a process has in its own process space; undefined if it has ended, or is not in the space of `other`. */
function idBeside(pid: number, other: number): number | undefined {
  try {
    if (readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync(`/proc/${other}/ns/pid`)) return undefined;
    const [, ids = ""] = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(ids.split("\t").at(-1));
  } catch {
    return undefined;
  }
}

/** Ends what a shell waits for. */
function terminate(shell: ChildProcess): void {
  for (const pid of childrenOf(shell.pid ?? 0)) process.kill(pid, "SIGTERM");
}
