import { structuredPatch } from "diff";
import type { Tree } from "./tree.ts";

/** Milliseconds for all comparisons. */
const longest = 5000;

/**
 * Returns the difference of two trees as a unified diff. A file whose comparison takes too long is only
 * named.
 */
export function difference(before: Tree, after: Tree): string {
  const end = performance.now() + longest;
  const paths = new Set([...before.entries(), ...after.entries()].map(([path]) => path));
  const parts = [...paths].sort().flatMap((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old !== undefined && now !== undefined && Buffer.compare(old, now) === 0) return [];
    const names = [
      old === undefined ? "/dev/null" : `a/${path}`,
      now === undefined ? "/dev/null" : `b/${path}`,
    ];
    if ([old, now].some((content) => content?.includes(0)))
      return [`Binary files ${names.join(" and ")} differ`];
    const [oldText, newText] = [old, now].map((content) => Buffer.from(content ?? []).toString());
    const timeout = Math.max(1, end - performance.now());
    const patch = structuredPatch("", "", oldText ?? "", newText ?? "", "", "", { context: 3, timeout });
    const hunks = patch?.hunks.map(
      ({ oldStart, oldLines, newStart, newLines, lines }) =>
        `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n${lines.join("\n")}`,
    );
    return [`--- ${names[0]}\n+++ ${names[1]}\n${hunks?.join("\n") ?? "(too much has changed to be shown)"}`];
  });
  return parts.length === 0 ? "(nothing has changed)" : parts.join("\n");
}

/** A range without lines is written as the line before it. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}
