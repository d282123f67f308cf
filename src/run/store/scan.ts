import { hash } from "node:crypto";
import { basename } from "node:path";
import { ahead } from "../../base/async/ahead.ts";
import { objectsAtOnce } from "./at-once.ts";
import type { Backend } from "./backend.ts";
import { recordJson } from "./envelope.ts";
import { generation, generationOf } from "./generation-name.ts";
import { pathsOf } from "./pages.ts";
import type { Corrupt, Scanned } from "./store.ts";
import { partOf, type Tree } from "./tree.ts";
import { freedMark, treeFile, treeFileOf } from "./tree-paths.ts";

/** Reads everything below `prefix` in order: records, bytes, and trees with their files. */
export async function* scanBelow(backend: Backend, prefix: string): AsyncGenerator<Scanned> {
  const paths = pathsOf((after) => backend.page(prefix, after));
  for await (const scanned of ahead(paths, objectsAtOnce, (path) => scan(backend, path))) {
    if (scanned !== undefined) yield scanned;
  }
}

async function scan(backend: Backend, path: string): Promise<Scanned | undefined> {
  if (treeFileOf(path) !== undefined) return undefined; // its record includes it
  const content = await backend.get(path, { isListed: true });
  if (content === undefined) return undefined; // removed since the listing
  if (path.endsWith(".bin")) {
    const isWhole = hash("sha256", content) === basename(generationOf(path).path, ".bin");
    return isWhole ? { path, corrupt: [] } : broken(backend, path, "its content is not what its digest says");
  }
  const found = recordJson(content);
  if ("reason" in found) return broken(backend, path, found.reason);
  const value = () => JSON.parse(found.json.toString());
  const corrupt: Corrupt[] = [];
  if (mayBeTree(found.json)) {
    const tree: unknown = value();
    for (const problem of isTree(tree) ? await brokenFiles(backend, path, tree) : []) {
      corrupt.push({ ...problem, isReplaced: await isReplaced(backend, path) });
    }
  }
  return { path, value, corrupt };
}

async function broken(backend: Backend, path: string, reason: string): Promise<Scanned> {
  return { path, corrupt: [{ path, reason, isReplaced: await isReplaced(backend, path) }] };
}

/** Excludes most records that are not a tree's by their first name, without parsing their JSON. */
function mayBeTree(json: Buffer): boolean {
  return json.toString("latin1", 0, treeStart.length) === treeStart;
}

const treeStart = '{"attempt":';

async function brokenFiles(
  backend: Backend,
  record: string,
  { attempt, files }: Tree<unknown>,
): Promise<{ path: string; reason: string }[]> {
  const tree = generationOf(record).path.slice(0, -".json".length);
  const problems: { path: string; reason: string }[] = [];
  for (const [name, { size, sha256 }] of Object.entries(files)) {
    const path = treeFile(tree, attempt, name);
    const found = await backend.digest(path);
    if (found?.size === size && found.sha256 === sha256) continue;
    if ((await backend.size(freedMark(tree, partOf(name)))) !== undefined) continue; // checked last: it may be freed now
    const reason =
      found?.size === size
        ? "its content is not what its tree's record says"
        : `it has ${found?.size ?? "no"} bytes, not ${size}`;
    problems.push({ path, reason });
  }
  return problems;
}

async function isReplaced(backend: Backend, path: string): Promise<boolean> {
  const { path: own, replaced } = generationOf(path);
  return (await backend.size(generation(own, replaced + 1))) !== undefined;
}

function isTree(value: unknown): value is Tree<unknown> {
  return typeof value === "object" && value !== null && "attempt" in value && "files" in value;
}
