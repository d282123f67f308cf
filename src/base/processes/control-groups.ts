import { join } from "node:path";
import { kernelText } from "./kernel-text.ts";

/** Where the kernel says which control groups a process is in, and what they hold. */
export interface ControlGroupFiles {
  self: string;
  groups: string;
}

/** What a control group's kernel says of its memory, and that of the groups below it, bytes. */
export interface ControlGroup {
  /** Beyond it the kernel ends processes, or slows them down; infinite where there is none. */
  limit: number;
  used: number;
  /** Pages of files among them, which the kernel takes back as soon as memory is wanted. */
  files: number;
  /** Its own processes that the kernel has killed for want of memory; undefined where the kernel does not count them. */
  kills: number | undefined;
}

const usual: ControlGroupFiles = { self: "/proc/self/cgroup", groups: "/sys/fs/cgroup" };

/** Versions 1 and 2 of control groups. */
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

/** The control groups of this process that can be seen, from the innermost to the outermost; none on other systems than Linux. */
export function controlGroups({ self, groups } = usual): ControlGroup[] {
  const lines = kernelText(self).split("\n");
  // Of version 1 a line is "4:memory:/path", of version 2 "0::/path".
  const paths = lines.map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line));
  const ofMemory = paths.find((path) => path?.[1]?.split(",").includes("memory"));
  const path = (ofMemory ?? paths.find((one) => one?.[1] === ""))?.[2] ?? "/";
  const names = versions[ofMemory ? 1 : 2];
  const parts = path.split("/").filter((part) => part !== "");
  const folders = [...parts.keys(), parts.length].map((depth) => {
    return join(groups, names.folder, ...parts.slice(0, depth));
  });
  // In a container, the path is often that outside of it, and the group stands at the root.
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
    limit: Math.min(...limits.map(bytesOf).filter((bytes) => !Number.isNaN(bytes))), // of version 2 "max", where there is none
    used: bytesOf(used) || 0,
    files: pagesOf("inactive_file") + pagesOf("active_file"),
  };
}
