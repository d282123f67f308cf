import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process, told apart from a later one that got the same id, and from one of another machine. */
export type ProcessIdentity = {
  pid: number;
  /** When it started, in words of its operating system. */
  started: string;
  machine: string;
};

/**
 * This boot of this machine, and the space in which its process ids count: two containers of one host are two machines
 * here, since neither sees the other's processes. Where the system names no boots, the host's name.
 */
export const machine: string = [bootId() ?? hostname(), processSpace()].filter(Boolean).join("/");

/** The identity of a process that runs on this machine; undefined if there is none, or only its remains. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  const started = startOf(pid);
  return started === undefined ? undefined : { pid, started, machine };
}

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  const identity = processIdentity(process.pid);
  if (identity === undefined) throw new Error("This process does not see itself among the running ones.");
  return identity;
}

/** Whether it still runs; undefined if it can't be known here, since it is another machine's. */
export function isRunning(process: ProcessIdentity): boolean | undefined {
  return process.machine === machine ? startOf(process.pid) === process.started : undefined;
}

function bootId(): string | undefined {
  const file = "/proc/sys/kernel/random/boot_id";
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  if (process.platform !== "darwin") return undefined;
  const { status, stdout } = spawnSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function processSpace(): string {
  const link = "/proc/self/ns/pid";
  return existsSync(link) ? readlinkSync(link) : "";
}

function startOf(pid: number): string | undefined {
  if (!existsSync("/proc/self/stat")) return startByPs(pid);
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // from the third field, the state, on
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined; // there is no such process
  }
}

function startByPs(pid: number): string | undefined {
  const { status, stdout } = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    encoding: "utf8",
  });
  const text = stdout?.trim() ?? "";
  return status !== 0 || text.startsWith("Z") ? undefined : text.replace(/^\S+\s+/, "");
}
