// npm run counts: prints how large the code is and how its parts depend on each other, and fails where a count is above its limit.
// With --list, also prints the places of the conditional spreads.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findSpreads } from "./find-spreads.ts";

const root = join(import.meta.dirname, "..");
const sources = globSync("{src,workflows,activities,packages,plugins}/**/*.ts", {
  cwd: root,
  exclude: ["**/node_modules/**"],
})
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

const rooms = edges((path) => path.split("/")[1] ?? "");
const folders = edges((path) => dirname(path));
const modules = edges((path) => path);
const written = sources.filter(({ path }) => !path.includes("/generated/"));
const lines = written.map(({ text }) => text.split("\n").length - 1).toSorted((a, b) => a - b);
const named = sources.flatMap(({ text }) => [
  ...text.matchAll(/^(?:export )?(?:interface|type|class) (\w*(?:Trajector|Turn|Call(?!ed))\w*)/gm),
]);
const spreads = findSpreads(root);

print("rooms", rooms.nodes.size);
print("imports between rooms", rooms.pairs.size);
print("folders of src/", folders.nodes.size);
print("imports between folders", folders.pairs.size);
print("imports in cycles of rooms", inCycles(rooms.pairs), 0);
print("imports in cycles of files", inCycles(modules.pairs), 0);
print("files", written.length);
print("median of lines", at(0.5));
print("90th percentile of lines", at(0.9));
print("files of more than 300 lines", lines.filter((count) => count > 300).length);
print("types named Trajectory, Turn or Call", new Set(named.map(([, name]) => name)).size, 39);
print("grouped spreads", spreads.grouped.length, 0);
// In src/, workflows/ and activities/, defined() of src/base/records/defined.ts leaves undefined properties out.
print("conditional spreads", spreads.conditional.length, 99);
for (const place of spreads.grouped) console.error(`${place} spreads a literal`);
if (process.argv.includes("--list")) for (const place of spreads.conditional) console.log(place);

/** The places of the modules of `src/`, and the pairs of places of which one imports the other. */
function edges(placeOf: (path: string) => string) {
  const nodes = new Set<string>();
  const pairs = new Map<string, [from: string, to: string]>();
  for (const { path, text } of sources.filter((source) => source.path.startsWith("src/"))) {
    const from = placeOf(path);
    nodes.add(from);
    for (const [, target = ""] of text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      const imported = join(dirname(path), target);
      const to = placeOf(imported);
      if (imported.startsWith("src/") && to !== from) pairs.set(`${from} → ${to}`, [from, to]);
    }
  }
  return { nodes, pairs };
}

/** How many pairs are part of a cycle, or lead from one cycle to another. */
function inCycles(pairs: ReadonlyMap<string, [from: string, to: string]>): number {
  let left = [...pairs.values()];
  for (;;) {
    const [begins, ends] = [new Set(left.map(([from]) => from)), new Set(left.map(([, to]) => to))];
    const next = left.filter(([from, to]) => ends.has(from) && begins.has(to));
    if (next.length === left.length) return left.length;
    left = next;
  }
}

function at(share: number): number {
  return lines[Math.floor(lines.length * share)] ?? 0;
}

/** Prints a count; one above `most` fails the check. */
function print(name: string, count: number, most = Number.POSITIVE_INFINITY): void {
  const limit = most === Number.POSITIVE_INFINITY ? "" : ` (at most ${most})`;
  console.log(`${name}: ${count}${limit}`);
  if (count <= most) return;
  console.error(`${name}: the limit is ${most}`);
  process.exitCode = 1;
}
