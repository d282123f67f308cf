import { freemem, totalmem } from "node:os";
import { join } from "node:path";
import { kernelText } from "./kernel-text.ts";

/** Where the kernel says which control groups a process is in, and what they hold. */
export interface ControlGroupFiles {
  self: string;
  groups: string;
}

const usual: ControlGroupFiles = { self: "/proc/self/cgroup", groups: "/sys/fs/cgroup" };

/** A control group's folder, and what its kernel calls things there. */
interface ControlGroup {
  folder: string;
  limit: string;
  used: string;
  /** What names of statistics begin with that count the groups below it, too. */
  total: string;
}

/**
 * Bytes that this process could come to hold, in its control group and in those around it. Node asks the innermost alone, and counts files that a
 * container has just written or read as held by it, though the kernel takes their pages back as soon as memory is wanted: they are available, as they
 * are in the kernel's MemAvailable.
 */
export function availableMemory(
  files = usual,
  constrained = process.constrainedMemory(),
  available = process.availableMemory(),
): number {
  const [innermost, ...around] = controlGroups(files);
  const isFree = constrained === 0 || constrained >= totalmem();
  const own =
    isFree || !innermost ? available : Math.min(freemem(), constrained, available + pagesOfFiles(innermost));
  return Math.min(own, ...around.map(leftIn));
}

/** The control groups that limit the memory of this process, from the innermost to the outermost that can be seen. */
function controlGroups({ self, groups }: ControlGroupFiles): ControlGroup[] {
  const lines = kernelText(self).split("\n");
  // Of version 1 a line is "4:memory:/path", of version 2 "0::/path".
  const paths = lines.map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line));
  const ofMemory = paths.find((path) => path?.[1]?.split(",").includes("memory"));
  const path = (ofMemory ?? paths.find((one) => one?.[1] === ""))?.[2] ?? "/";
  const root = ofMemory ? join(groups, "memory") : groups;
  const names = ofMemory
    ? { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", total: "total_" }
    : { limit: "memory.max", used: "memory.current", total: "" };
  const parts = path.split("/").filter((part) => part !== "");
  const all = [...parts.keys(), parts.length].toReversed().map((depth) => {
    return { folder: join(root, ...parts.slice(0, depth)), ...names };
  });
  // In a container, the path is often that outside of it, and the group stands at the root.
  const isSeen = ({ folder }: ControlGroup) => kernelText(join(folder, "memory.stat")) !== "";
  return all.filter(isSeen);
}

/** Bytes that the limit of a group leaves. */
function leftIn(group: ControlGroup): number {
  const bytesOf = (name: string) => Number.parseInt(kernelText(join(group.folder, name)), 10);
  const limit = bytesOf(group.limit); // of version 2 "max", where there is none
  if (!(limit < totalmem())) return Number.POSITIVE_INFINITY;
  return Math.max(0, Math.min(limit, limit - bytesOf(group.used) + pagesOfFiles(group)));
}

/** Bytes of pages of files that belong to a group. */
function pagesOfFiles({ folder, total }: ControlGroup): number {
  const text = kernelText(join(folder, "memory.stat"));
  const bytesOf = (name: string) => Number(new RegExp(`^${total}${name} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
  return bytesOf("inactive_file") + bytesOf("active_file");
}
