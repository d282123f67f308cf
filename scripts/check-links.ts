// npm run check:links: fails if a page of a package has a link to something that the package does not contain.
// Without parameters, it checks what `npm run build` would make of the clone; `node scripts/check-links.ts dist/*` checks packages.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deadLinks, publishedPage } from "./build/links.ts";
import type { Package } from "./build/published.ts";

const root = join(import.meta.dirname, "..");
const built = process.argv.slice(2);
const folders = built.length > 0 ? built : ["", ...globSync("{packages,plugins}/*", { cwd: root })];

let pages = 0;
const dead = folders.flatMap((folder) => {
  const isBuilt = built.length > 0;
  const base = isBuilt ? folder : join(root, folder);
  const ships = isBuilt ? (path: string) => existsSync(join(base, path)) : shippedFrom(base);
  const read = (page: string) => {
    const text = readFileSync(join(base, page), "utf8");
    return isBuilt ? text : publishedPage(text, page, ships);
  };
  const own = globSync("**/*.md", { cwd: base, exclude: ["**/node_modules/**"] }).filter(ships);
  pages += own.length;
  return own.flatMap((page) =>
    deadLinks(read(page), page, ships, read).map((target) => `${join(folder, page)}: ${target}`),
  );
});
for (const line of dead) console.error(line);
console.log(`${dead.length} dead links in ${pages} pages of ${folders.length} packages`);
process.exitCode = dead.length > 0 ? 1 : 0;

/** Whether the package that is built from a folder of the clone has a path. */
function shippedFrom(base: string): (path: string) => boolean {
  const { files = [] }: Package = JSON.parse(readFileSync(join(base, "package.json"), "utf8"));
  const isIn = (path: string, entry: string) => path === entry || path.startsWith(`${entry}/`);
  const named = ["README.md", "LICENSE", "package.json", ...files];
  return (path) => {
    const isNamed =
      named.some((entry) => isIn(path, entry)) && !files.some((entry) => isIn(`!${path}`, entry));
    const source = path.replace(/(\.d\.ts|\.js)$/, ".ts");
    const exists = existsSync(join(base, source === path ? path : source)) || existsSync(join(base, path));
    return (
      isNamed &&
      exists &&
      !(path.endsWith(".ts") && source === path && !/^(templates|pipelines)\//.test(path))
    );
  };
}
