import type { Tree } from "./tree.ts";

/** What differs between two trees, as a unified diff with one hunk for each file, from its first changed line to its last. */
export function difference(before: Tree, after: Tree): string {
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
    return [`--- ${names[0]}\n+++ ${names[1]}\n${hunk(linesOf(old), linesOf(now))}`];
  });
  return parts.length === 0 ? "(nothing has changed)" : parts.join("\n");
}

function hunk(old: readonly string[], now: readonly string[]): string {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const range = ({ length }: readonly string[]): string => `${length === 0 ? start : start + 1},${length}`;
  const lines = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  return [`@@ -${range(removed)} +${range(added)} @@`, ...lines].join("\n");
}

/** A last line without an end is said as diff says it. */
function linesOf(content: Uint8Array | undefined): string[] {
  const text = Buffer.from(content ?? []).toString();
  if (text === "") return [];
  return text.endsWith("\n")
    ? text.slice(0, -1).split("\n")
    : `${text}\n\\ No newline at end of file`.split(/\n(?!\\)/);
}
