import { hash } from "node:crypto";
import { basename } from "node:path";
import type { Backend } from "./backend.ts";
import { decodeRecord } from "./envelope.ts";
import { generation, generationOf } from "./generation-name.ts";
import { pathsOf } from "./pages.ts";
import type { Corrupt } from "./store.ts";
import { partOf, type Tree } from "./tree.ts";
import { freedMark, treeFile, treeFileOf } from "./tree-paths.ts";

/** Everything below `prefix` that can't be read: records, bytes, and files of trees that their record names otherwise. */
export async function corruptBelow(backend: Backend, prefix: string): Promise<Corrupt[]> {
  const found: Corrupt[] = [];
  for await (const path of pathsOf((after) => backend.page(prefix, after))) {
    if (treeFileOf(path) !== undefined) continue; // its record tells of it
    for (const problem of await problemsOf(backend, path)) {
      found.push({ ...problem, isReplaced: await isReplaced(backend, path) });
    }
  }
  return found;
}

async function problemsOf(backend: Backend, path: string): Promise<{ path: string; reason: string }[]> {
  const content = await backend.get(path);
  if (content === undefined) return []; // removed since it was listed
  if (path.endsWith(".bin")) {
    const sha256 = basename(generationOf(path).path, ".bin");
    return hash("sha256", content) === sha256
      ? []
      : [{ path, reason: "its content is not what its digest says" }];
  }
  const decoded = decodeRecord<unknown>(content);
  if ("reason" in decoded) return [{ path, reason: decoded.reason }];
  return isTree(decoded.value) ? brokenFiles(backend, path, decoded.value) : [];
}

async function brokenFiles(
  backend: Backend,
  record: string,
  { attempt, files }: Tree<unknown>,
): Promise<{ path: string; reason: string }[]> {
  const tree = generationOf(record).path.slice(0, -".json".length);
  const broken: { path: string; reason: string }[] = [];
  for (const [name, { size, sha256 }] of Object.entries(files)) {
    const path = treeFile(tree, attempt, name);
    const found = await backend.digest(path);
    if (found?.size === size && found.sha256 === sha256) continue;
    if ((await backend.size(freedMark(tree, partOf(name)))) !== undefined) continue; // asked last: it may be freed now
    const reason =
      found?.size === size
        ? "its content is not what its tree's record says"
        : `it has ${found?.size ?? "no"} bytes, not ${size}`;
    broken.push({ path, reason });
  }
  return broken;
}

async function isReplaced(backend: Backend, path: string): Promise<boolean> {
  const { path: own, replaced } = generationOf(path);
  return (await backend.size(generation(own, replaced + 1))) !== undefined;
}

function isTree(value: unknown): value is Tree<unknown> {
  return typeof value === "object" && value !== null && "attempt" in value && "files" in value;
}
