import { patiently } from "../../base/files/patiently.ts";
import { newAttempt } from "../../base/files/temporary-name.ts";
import { type Backend, FileBroken } from "./backend.ts";
import { decodeRecord, encodeRecord } from "./envelope.ts";
import type { Decoded, Generations, Report } from "./generations.ts";
import type { TreeKey } from "./key.ts";
import type { Store } from "./store.ts";
import { filesOf, partOf, type Tree } from "./tree.ts";
import { brokenMark, freedMark, treeFile, treeRecord } from "./tree-paths.ts";

/** The trees of a store over a backend. */
export function openTrees(
  backend: Backend,
  generations: Generations,
  report: Report,
): Pick<Store, "tree" | "readTree" | "treeRecord" | "inFolder" | "problemOf" | "free" | "isFreed"> {
  const isThere = async (path: string) => (await backend.size(path)) !== undefined;
  const mark = (path: string, says: string | true) =>
    patiently(() => backend.put(path, encodeRecord(says), { flush: true }));

  /** The recorded problem of an attempt's file, if there is one. */
  async function markedProblem(tree: string, attempt: string): Promise<string | undefined> {
    const content = await backend.get(brokenMark(tree, attempt));
    if (content === undefined) return undefined;
    const says = decodeRecord<string | true>(content);
    return "value" in says && says.value !== true ? says.value : "a file of it is not what it says";
  }

  /** Why a tree is not complete; undefined if it is. Freed parts don't count as missing. */
  async function problemOf(tree: string, { attempt, files }: Tree<unknown>): Promise<string | undefined> {
    const marked = await markedProblem(tree, attempt);
    if (marked !== undefined) return marked;
    for (const [name, { size }] of Object.entries(files)) {
      const found = await backend.size(treeFile(tree, attempt, name));
      if (found === size || (await isThere(freedMark(tree, partOf(name))))) continue;
      return `its file ${name} has ${found ?? "no"} bytes, not ${size}`;
    }
    return undefined;
  }

  const decodeWhole =
    <Value>(tree: string) =>
    async (content: Uint8Array): Promise<Decoded<Tree<Value>>> => {
      const decoded = decodeRecord<Tree<Value>>(content);
      if ("reason" in decoded) return decoded;
      const reason = await problemOf(tree, decoded.value);
      return reason === undefined ? decoded : { reason };
    };

  async function removeFiles(tree: string, attempt: string, names: readonly string[]): Promise<void> {
    for (const name of names) await backend.remove(treeFile(tree, attempt, name));
  }

  async function readTree<Value>({ tree }: TreeKey<Value>): Promise<Tree<Value> | undefined> {
    return (await generations.read(treeRecord(tree), decodeWhole<Value>(tree)))?.value;
  }

  return {
    tree: async <Value>(
      { tree }: TreeKey<Value>,
      write: (folder: string) => Promise<void>,
      value: () => Value,
    ) => {
      const { attempt, files } = await patiently(async () => {
        const begun = newAttempt();
        return { attempt: begun, files: await backend.fill(treeFile(tree, begun, ""), write) };
      });
      const own: Tree<Value> = { attempt, files, value: value() };
      const decode = decodeWhole<Value>(tree);
      const other = await generations.put(treeRecord(tree), encodeRecord(own), decode, { flush: true });
      if (other === undefined) return own;
      await removeFiles(tree, attempt, Object.keys(files));
      return other.value;
    },
    readTree,
    treeRecord: async <Value>({ tree }: TreeKey<Value>) =>
      (await generations.newest<Tree<Value>>(treeRecord(tree), decodeRecord))?.value,
    inFolder: async <Result>(
      { tree }: TreeKey<unknown>,
      { attempt, files }: Pick<Tree<unknown>, "attempt" | "files">,
      part: string,
      work: (folder: string) => Promise<Result>,
      options?: { isUnread?: boolean },
    ) => {
      const prefix = treeFile(tree, attempt, part === "" ? "" : `${part}/`);
      try {
        return { result: await backend.inFolder(prefix, filesOf(files, part), work, options) };
      } catch (error) {
        if (!(error instanceof FileBroken)) throw error;
        if (await isThere(freedMark(tree, part))) return undefined;
        await mark(brokenMark(tree, attempt), error.message);
        report(treeRecord(tree), error.message);
        return undefined;
      }
    },
    problemOf: async ({ tree }, part) => {
      const standing = (await generations.newest<Tree<unknown>>(treeRecord(tree), decodeRecord))?.value;
      if (standing === undefined) return `there is no ${treeRecord(tree)} that can be read`;
      if (await isThere(freedMark(tree, part))) return "they were removed to make room";
      return (await problemOf(tree, standing)) ?? "they have been rebuilt in the meantime";
    },
    free: async (key, part) => {
      const { tree } = key;
      if (!(await isThere(freedMark(tree, part)))) await mark(freedMark(tree, part), true);
      const standing = await readTree(key);
      if (standing === undefined) return;
      const names = Object.keys(standing.files).filter((name) => partOf(name) === part);
      await removeFiles(tree, standing.attempt, names);
    },
    isFreed: ({ tree }, part) => isThere(freedMark(tree, part)),
  };
}
