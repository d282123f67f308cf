// npm run counts: rooms and folders of src/ and the imports between them, files and their lines, and types named after a trajectory, a turn or
// a call.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..");
const sources = globSync("{src,workflows,activities,plugins}/**/*.ts", {
  cwd: root,
  exclude: ["**/node_modules/**"],
})
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

const rooms = edges((path) => path.split("/")[1] ?? "");
const folders = edges((path) => dirname(path));
const written = sources.filter(({ path }) => !path.includes("/generated/"));
const lines = written.map(({ text }) => text.split("\n").length - 1).toSorted((a, b) => a - b);
const named = sources.flatMap(({ text }) => [
  ...text.matchAll(/^(?:export )?(?:interface|type|class) (\w*(?:Trajector|Turn|Call)\w*)/gm),
]);

print("rooms", rooms.nodes.size);
print("imports between rooms", rooms.pairs.size);
print("folders of src/", folders.nodes.size);
print("imports between folders", folders.pairs.size);
print("files", written.length);
print("median of lines", at(0.5));
print("90th percentile of lines", at(0.9));
print("files of more than 300 lines", lines.filter((count) => count > 300).length);
print("types named Trajectory, Turn or Call", new Set(named.map(([, name]) => name)).size);

/** The places of the modules of `src/`, and the pairs of places of which one imports the other. */
function edges(placeOf: (path: string) => string) {
  const nodes = new Set<string>();
  const pairs = new Set<string>();
  for (const { path, text } of sources.filter((source) => source.path.startsWith("src/"))) {
    nodes.add(placeOf(path));
    for (const [, target = ""] of text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      const imported = join(dirname(path), target);
      if (imported.startsWith("src/") && placeOf(imported) !== placeOf(path))
        pairs.add(`${placeOf(path)} → ${placeOf(imported)}`);
    }
  }
  return { nodes, pairs };
}

function at(share: number): number {
  return lines[Math.floor(lines.length * share)] ?? 0;
}

function print(name: string, count: number): void {
  process.stdout.write(`${name}: ${count}\n`);
}
