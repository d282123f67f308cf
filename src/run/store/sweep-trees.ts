import { ahead } from "../../base/async/ahead.ts";
import { writerOf } from "../../base/files/temporary-name.ts";
import { objectsAtOnce } from "./at-once.ts";
import type { Backend } from "./backend.ts";
import { decodeRecord } from "./envelope.ts";
import type { Generations } from "./generations.ts";
import { pathsOf } from "./pages.ts";
import type { Tree } from "./tree.ts";
import { treeFileOf, treeRecord } from "./tree-paths.ts";

/**
 * Removes attempts at trees below `prefix` that were never committed and that nobody continues. Returns their
 * number.
 */
export async function sweepTrees(
  backend: Backend,
  generations: Generations,
  prefix: string,
): Promise<number> {
  const attempts = await attemptsBelow(backend, prefix);
  let swept = 0;
  const sweeps = ahead(attempts, objectsAtOnce, async ({ tree, attempt, paths }) => {
    if (!(await isAbandoned(generations, tree, attempt))) return false;
    for (const path of paths) await backend.remove(path);
    return true;
  });
  for await (const isSwept of sweeps) if (isSwept) swept++;
  return swept;
}

async function attemptsBelow(backend: Backend, prefix: string) {
  const attempts = new Map<string, { tree: string; attempt: string; paths: string[] }>();
  for await (const path of pathsOf((after) => backend.page(prefix, after))) {
    const file = treeFileOf(path);
    if (file === undefined) continue;
    const known = attempts.get(`${file.tree}/${file.attempt}`) ?? { ...file, paths: [] };
    known.paths.push(path);
    attempts.set(`${file.tree}/${file.attempt}`, known);
  }
  return attempts.values();
}

/**
 * Whether nobody will commit or read an attempt's files: other attempts were committed, or none was and its process
 * has ended. If a record is unreadable nothing is removed, because it may have named this attempt.
 */
async function isAbandoned(generations: Generations, tree: string, attempt: string): Promise<boolean> {
  const isRunning = writerOf(`.${attempt}.tmp`)?.isRunning;
  if (isRunning === true) return false;
  let isReadable = true;
  const committed = new Set<string>(); // a broken one is followed by its replacement
  await generations.newest<Tree<unknown>>(treeRecord(tree), (content) => {
    const decoded = decodeRecord<Tree<unknown>>(content);
    if ("reason" in decoded) isReadable = false;
    else committed.add(decoded.value.attempt);
    return decoded;
  });
  if (!isReadable) return false;
  return committed.size === 0 ? isRunning === false : !committed.has(attempt);
}
