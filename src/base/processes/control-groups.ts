import { join } from "node:path";
import { kernelText } from "./kernel-text.ts";

/** Files in which the kernel lists a process's control groups and their memory. */
export interface ControlGroupFiles {
  self: string;
  groups: string;
}

/** The memory of a control group and the groups below it, as the kernel reports it, in bytes. */
export interface ControlGroup {
  /** Beyond this limit the kernel kills processes or slows them down; Infinity if there is none. */
  limit: number;
  used: number;
  /** The part that holds file pages, which the kernel reclaims as soon as memory is needed. */
  files: number;
  /**
   * How many of its own processes the kernel has killed for lack of memory; undefined if the kernel does not count
   * them.
   */
  kills: number | undefined;
}

const usual: ControlGroupFiles = { self: "/proc/self/cgroup", groups: "/sys/fs/cgroup" };

/** File names in versions 1 and 2 of control groups. */
const versions = {
  1: {
    folder: "memory",
    limits: ["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    total: "total_",
    kills: "memory.oom_control",
  },
  2: {
    folder: "",
    limits: ["memory.max", "memory.high"],
    used: "memory.current",
    total: "",
    kills: "memory.events.local",
  },
};

/** The visible control groups of this process, from the innermost to the outermost; none outside of Linux. */
export function controlGroups({ self, groups } = usual): ControlGroup[] {
  const lines = kernelText(self).split("\n");
  // A line is "4:memory:/path" in version 1 and "0::/path" in version 2.
  const paths = lines.map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line));
  const ofMemory = paths.find((one) => one?.[1]?.split(",").includes("memory"));
  const path = (ofMemory ?? paths.find((one) => one?.[1] === ""))?.[2] ?? "/";
  const names = versions[ofMemory ? 1 : 2];
  const parts = path.split("/").filter((part) => part !== "");
  const folders = [...parts.keys(), parts.length].map((depth) => {
    return join(groups, names.folder, ...parts.slice(0, depth));
  });
  // In a container, the path is often the one outside of it, and the group is at the root.
  return folders.toReversed().flatMap((folder) => groupIn(folder, names) ?? []);
}

function groupIn(
  folder: string,
  { limits, used, total, kills }: (typeof versions)[1 | 2],
): ControlGroup | undefined {
  const statistics = kernelText(join(folder, "memory.stat"));
  if (statistics === "") return undefined;
  const bytesOf = (name: string) => Number.parseInt(kernelText(join(folder, name)), 10);
  const pagesOf = (name: string) =>
    Number(new RegExp(`^${total}${name} (\\d+)$`, "m").exec(statistics)?.[1] ?? 0);
  const killed = /^oom_kill (\d+)$/m.exec(kernelText(join(folder, kills)))?.[1];
  return {
    kills: killed === undefined ? undefined : Number(killed),
    limit: Math.min(...limits.map(bytesOf).filter((bytes) => !Number.isNaN(bytes))), // version 2 writes "max" for none
    used: bytesOf(used) || 0,
    files: pagesOf("inactive_file") + pagesOf("active_file"),
  };
}
