import { Mistake } from "./mistake.ts";
import type { Tree } from "./tree.ts";

/** Lines of a file with their numbers, from `first` to `last`, both included. */
export function view(tree: Tree, path: string, first = 1, last = Number.POSITIVE_INFINITY): string {
  const lines = linesOf(tree.text(path));
  if (lines.length === 0) return `(${path} is empty)`;
  if (first > lines.length || last < first)
    throw new Mistake(`${path} has lines 1 to ${lines.length}, not ${first} to ${last}`);
  return lines
    .slice(first - 1, last)
    .map((line, index) => `${first + index}\t${line}`)
    .join("\n");
}

/** Writes a new file. */
export function create(tree: Tree, path: string, text: string): string {
  if (tree.get(path) !== undefined) throw new Mistake(`${path} is there already: edit it`);
  tree.write(path, text);
  return `wrote ${path}`;
}

/** Replaces a text that appears exactly once in a file. */
export function replace(tree: Tree, path: string, old: string, by: string): string {
  const text = tree.text(path);
  const at = text.indexOf(old);
  if (at < 0) throw new Mistake(`${path} does not have this text; it must be the same to the letter`);
  if (text.includes(old, at + 1))
    throw new Mistake(`${path} has this text more than once: take more of what is around it`);
  tree.write(path, text.slice(0, at) + by + text.slice(at + old.length));
  return `edited ${path}`;
}

/** Inserts lines after line `after`. 0 means before the first line. */
export function insert(tree: Tree, path: string, after: number, added: string): string {
  const text = tree.text(path);
  const lines = linesOf(text);
  if (after > lines.length) throw new Mistake(`${path} has ${lines.length} lines`);
  lines.splice(after, 0, added.endsWith("\n") ? added.slice(0, -1) : added);
  const isEnded = text === "" || text.endsWith("\n");
  tree.write(path, lines.join("\n") + (isEnded ? "\n" : ""));
  return `edited ${path}`;
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}
