import { freemem, totalmem } from "node:os";
import { join } from "node:path";
import { kernelText } from "./kernel-text.ts";

/** Where the kernel says which control groups a process is in, and what they hold. */
export interface ControlGroupFiles {
  self: string;
  groups: string;
}

const usual: ControlGroupFiles = { self: "/proc/self/cgroup", groups: "/sys/fs/cgroup" };

/**
 * Bytes that this process could come to hold. Node counts files that a container has just written or read as held by it, though the
 * kernel takes their pages back as soon as memory is wanted: they are available, as they are in the kernel's MemAvailable.
 */
export function availableMemory(
  files = usual,
  constrained = process.constrainedMemory(),
  available = process.availableMemory(),
): number {
  if (constrained === 0 || constrained >= totalmem()) return available;
  return Math.min(freemem(), constrained, available + pagesOfFiles(files));
}

/** Bytes of pages of files in the control group of this process. */
function pagesOfFiles({ self, groups }: ControlGroupFiles): number {
  const lines = kernelText(self).split("\n");
  // Of version 1 a line is "4:memory:/path", of version 2 "0::/path".
  const paths = lines.map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line));
  const ofMemory = paths.find((path) => path?.[1]?.split(",").includes("memory"));
  const path = (ofMemory ?? paths.find((one) => one?.[1] === ""))?.[2] ?? "/";
  const root = ofMemory ? join(groups, "memory") : groups;
  // In a container, the path is often that outside of it, and the group stands at the root.
  const text = kernelText(join(root, path, "memory.stat")) || kernelText(join(root, "memory.stat"));
  const prefix = ofMemory ? "total_" : ""; // with the groups below it; version 2 counts so anyway
  const bytesOf = (name: string) => Number(new RegExp(`^${prefix}${name} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
  return bytesOf("inactive_file") + bytesOf("active_file");
}
