import { RE2JS } from "re2js";
import { Mistake } from "./mistake.ts";
import type { Tree } from "./tree.ts";

const most = 100;
const longest = 300;
const seconds = 5;

/**
 * Returns the lines that match a regular expression. RE2 takes time in proportion to their length. Only the
 * first 10,000 characters of a line are searched, and the search stops after five seconds. Files that are not
 * text are skipped.
 */
export function search(tree: Tree, pattern: string, below = ""): string {
  const expression = compiled(pattern);
  const end = performance.now() + seconds * 1000;
  const found: string[] = [];
  for (const [path] of tree.entries()) {
    if (!path.startsWith(below)) continue;
    for (const [index, line] of textLines(tree, path).entries()) {
      if (performance.now() > end) return [...found, `(given up after ${seconds} s, at ${path})`].join("\n");
      if (!expression.matcher(line.slice(0, 10_000)).find()) continue;
      if (found.length === most) return [...found, `(more than ${most} lines)`].join("\n");
      found.push(`${path}:${index + 1}:${line.slice(0, longest)}`);
    }
  }
  return found.length === 0 ? "(found nothing)" : found.join("\n");
}

/** Returns the paths that match a regular expression, with their sizes. */
export function find(tree: Tree, pattern: string): string {
  const expression = compiled(pattern);
  const found = tree.entries().filter(([path]) => expression.matcher(path).find());
  if (found.length === 0) return "(found nothing)";
  const shown = found.slice(0, most).map(([path, { length }]) => `${path} (${length} bytes)`);
  return [...shown, ...(found.length > most ? [`(${found.length} files)`] : [])].join("\n");
}

function compiled(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Mistake(`the pattern can't be read as RE2: ${reason}`);
  }
}

function textLines(tree: Tree, path: string): string[] {
  try {
    return tree.text(path).split("\n");
  } catch (error) {
    if (error instanceof Mistake) return [];
    throw error;
  }
}
