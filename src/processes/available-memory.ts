import { readFileSync } from "node:fs";
import { freemem, totalmem } from "node:os";
import { join } from "node:path";

/** Where the kernel says which control groups a process is in, and what they hold. */
export interface ControlGroupFiles {
  self: string;
  groups: string;
}

const usual: ControlGroupFiles = { self: "/proc/self/cgroup", groups: "/sys/fs/cgroup" };

/**
 * Bytes that this process could come to hold. In a container, files that were just written or read count as held by it, though
 * the kernel takes their pages back as soon as memory is wanted: those that nobody uses are available (Kubernetes counts so, too).
 */
export function availableMemory(
  files = usual,
  constrained = process.constrainedMemory(),
  available = process.availableMemory(),
): number {
  if (constrained === 0 || constrained >= totalmem()) return available;
  return Math.min(freemem(), constrained, available + unusedPages(files));
}

/** Bytes of pages of files that nobody has used for a while, in the control group of this process. */
function unusedPages({ self, groups }: ControlGroupFiles): number {
  const lines = textOf(self)?.split("\n") ?? [];
  // Of version 1 a line is "4:memory:/path", of version 2 "0::/path".
  const paths = lines.map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line));
  const ofMemory = paths.find((path) => path?.[1]?.split(",").includes("memory"));
  const path = (ofMemory ?? paths.find((one) => one?.[1] === ""))?.[2] ?? "/";
  const root = ofMemory ? join(groups, "memory") : groups;
  // In a container, the path is often that outside of it, and the group stands at the root.
  const text = textOf(join(root, path, "memory.stat")) ?? textOf(join(root, "memory.stat")) ?? "";
  return Number(
    /^total_inactive_file (\d+)$/m.exec(text)?.[1] ?? /^inactive_file (\d+)$/m.exec(text)?.[1] ?? 0,
  );
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // not Linux, or not told
  }
}
