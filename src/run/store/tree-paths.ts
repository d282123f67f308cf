import type { Key, TreeKey } from "./key.ts";
import type { Tree } from "./tree.ts";

/** Where the record of a tree is. */
export function treeRecord(tree: string): string {
  return `${tree}.json`;
}

/** The key of the record of a tree. */
export function treeRecordKey<Value>({ tree }: TreeKey<Value>): Key<Tree<Value>> {
  return { path: treeRecord(tree) };
}

/** Where a file of an attempt at a tree is; the attempt's folder for "". */
export function treeFile(tree: string, attempt: string, name: string): string {
  return `${tree}/${attempt}/${name}`;
}

/** Whose file of a tree a path is; undefined for another object. No name has a dot but an attempt's. */
export function treeFileOf(path: string): { tree: string; attempt: string } | undefined {
  const match = /^(.*?)\/([^/]*\.[^/]*)\/.+$/.exec(path);
  if (match === null) return undefined;
  const [, tree = "", attempt = ""] = match;
  return { tree, attempt };
}

/** The object that says that a part of a tree was freed: it comes before its files go. */
export function freedMark(tree: string, part: string): string {
  return `${tree}/freed-${part === "" ? "%" : part}.json`;
}

/** The object that says that a file of an attempt was found to be broken. */
export function brokenMark(tree: string, attempt: string): string {
  return `${tree}/broken-${attempt.replaceAll(".", "-")}.json`;
}
