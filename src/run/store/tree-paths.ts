import type { Key, TreeKey } from "./key.ts";
import type { Tree } from "./tree.ts";

/** The path of a tree's record. */
export function treeRecord(tree: string): string {
  return `${tree}.json`;
}

/** The key of a tree's record. */
export function treeRecordKey<Value>({ tree }: TreeKey<Value>): Key<Tree<Value>> {
  return { path: treeRecord(tree) };
}

/** The path of a file of an attempt at a tree; the attempt's folder for "". */
export function treeFile(tree: string, attempt: string, name: string): string {
  return `${tree}/${attempt}/${name}`;
}

/**
 * The attempt at a tree that a path belongs to; undefined for other objects. Only an attempt's name contains a dot.
 */
export function treeFileOf(path: string): { tree: string; attempt: string } | undefined {
  const match = /^(.*?)\/([^/]*\.[^/]*)\/.+$/.exec(path);
  if (match === null) return undefined;
  const [, tree = "", attempt = ""] = match;
  return { tree, attempt };
}

/** The path of the object that marks a part of a tree as freed. It is written before the files are removed. */
export function freedMark(tree: string, part: string): string {
  return `${tree}/freed-${part === "" ? "%" : part}.json`;
}

/** The path of the object that marks a file of an attempt as broken. */
export function brokenMark(tree: string, attempt: string): string {
  return `${tree}/broken-${attempt.replaceAll(".", "-")}.json`;
}
