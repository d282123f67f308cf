import { spawnSync } from "node:child_process";
import { freemem, totalmem } from "node:os";
import { type ControlGroup, controlGroups } from "./control-groups.ts";

/**
 * Bytes that this process can still allocate in its control group and the groups around it. Node only reads the
 * innermost group. It also counts recently read or written files as memory in use, although the kernel reclaims
 * their pages as soon as memory is needed. Here they count as available, as in the kernel's MemAvailable.
 */
export function availableMemory(
  groups: readonly ControlGroup[] = controlGroups(),
  constrained = process.constrainedMemory(),
  available = availableToNode(),
): number {
  const [innermost, ...around] = groups;
  const isFree = constrained === 0 || constrained >= totalmem();
  const own = isFree ? available : Math.min(freemem(), constrained, available + (innermost?.files ?? 0));
  return Math.min(own, ...around.map(leftIn));
}

/** Total memory in bytes for this process and others: the machine's, or what its control groups may use of it. */
export function limitedMemory(
  groups: readonly ControlGroup[] = controlGroups(),
  constrained = process.constrainedMemory(),
  machine = totalmem(),
): number {
  return Math.min(machine, constrained || machine, ...groups.map(({ limit }) => limit));
}

function leftIn({ limit, used, files }: ControlGroup): number {
  return Math.max(0, Math.min(limit, limit - used + files));
}

/**
 * The value that Node reports. Before libuv 1.52, Node on macOS only counts free pages: some hundred MB where
 * gigabytes are available (libuv issue 3897).
 */
function availableToNode(): number {
  const available = process.availableMemory();
  if (process.platform !== "darwin") return available;
  const { status, stdout } = spawnSync("vm_stat", { encoding: "utf8" });
  return status === 0 ? Math.max(available, reclaimable(stdout)) : available;
}

/**
 * Bytes of pages that macOS can hand out, from the output of `vm_stat`: free, speculative (listed separately from
 * free), inactive and purgeable pages.
 */
export function reclaimable(statistics: string): number {
  const numberOf = (expression: RegExp) => Number(expression.exec(statistics)?.[1] ?? 0);
  const pagesOf = (kind: string) => numberOf(new RegExp(`^Pages ${kind}: +(\\d+)\\.$`, "m"));
  const pages = ["free", "speculative", "inactive", "purgeable"].reduce(
    (sum, kind) => sum + pagesOf(kind),
    0,
  );
  return numberOf(/page size of (\d+) bytes/) * pages;
}
