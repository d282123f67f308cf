import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** The page with the table. */
export const page = join(root, "docs", "plugins.md");

/** A row begins with its package: | [`tool-sql`](../plugins/tool-sql) | … */
const row = /^\| \[`([\w-]+)`\]\(\.\.\/plugins\/.*\n/gm;

/** The tools and rewards of this repository, by name. */
export function countedPackages(): string[] {
  return globSync("{tool,reward}-*/package.json", { cwd: join(root, "plugins") })
    .map((path) => path.split(/[\\/]/)[0] ?? "")
    .sort((one, other) => kind(one) - kind(other) || one.localeCompare(other));
}

/** Tools stand above rewards. */
function kind(name: string): number {
  return name.startsWith("tool-") ? 0 : 1;
}

/** The table's rows, each a line, by package. */
export function rowsOf(text: string): Map<string, string> {
  return new Map([...text.matchAll(row)].map(([line, name = ""]) => [name, line]));
}

/** The page with these rows in the place of those that it has. Throws if it has no table. */
export function withRows(text: string, rows: ReadonlyMap<string, string>): string {
  const lines = countedPackages().map((name) => rows.get(name) ?? "");
  const head = /^\| package \|.*\n\|(?: -+:? \|)+\n/m.exec(text);
  if (head === null) throw new Error("docs/plugins.md has no table that begins with | package |");
  const start = head.index + head[0].length;
  return text.slice(0, start) + lines.join("") + text.slice(start).replace(row, "");
}

/** The examples that name a package, as links from the page. */
export function examplesOf(name: string): string {
  const named = new RegExp(`\\b${name}(?![\\w-])`);
  return globSync("pipelines/*.yaml", { cwd: root })
    .sort()
    .filter((path) => named.test(readFileSync(join(root, path), "utf8")))
    .map((path) => `[${path.slice("pipelines/".length, -".yaml".length)}](../${path})`)
    .join(", ");
}
