import { spawnSync } from "node:child_process";
import { freemem, totalmem } from "node:os";
import { type ControlGroup, controlGroups } from "./control-groups.ts";

/**
 * Bytes that this process could come to hold, in its control group and in those around it. Node asks the innermost alone, and counts files that a
 * container has just written or read as held by it, though the kernel takes their pages back as soon as memory is wanted: they are available, as they
 * are in the kernel's MemAvailable.
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

/** Bytes of memory that there are for this process and others: the machine's, or what its control groups may have of them. */
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

/** What Node says, but on macOS: before libuv 1.52 it counts free pages alone there, some hundred MB where gigabytes are available (libuv's issue 3897). */
function availableToNode(): number {
  const available = process.availableMemory();
  if (process.platform !== "darwin") return available;
  const { status, stdout } = spawnSync("vm_stat", { encoding: "utf8" });
  return status === 0 ? Math.max(available, reclaimable(stdout)) : available;
}

/** Bytes of the pages that macOS gives to who wants them, as its `vm_stat` tells: those that are free (speculative ones are told apart there), inactive or purgeable. */
export function reclaimable(statistics: string): number {
  const numberOf = (expression: RegExp) => Number(expression.exec(statistics)?.[1] ?? 0);
  const pagesOf = (kind: string) => numberOf(new RegExp(`^Pages ${kind}: +(\\d+)\\.$`, "m"));
  const pages = ["free", "speculative", "inactive", "purgeable"].reduce(
    (sum, kind) => sum + pagesOf(kind),
    0,
  );
  return numberOf(/page size of (\d+) bytes/) * pages;
}
