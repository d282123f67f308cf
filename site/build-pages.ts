// Copies the project's pages into site/pages/ in the form that VitePress reads: README.md becomes index.md, links to source files become
// text, and explicit anchors become heading ids.
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dirname, "..");
const target = join(import.meta.dirname, "pages");
const pages = globSync(
  [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "benchmarks/README.md",
    "{plugins,src}/*/README.md",
  ],
  { cwd: root, exclude: ["**/node_modules/**"] },
);
const known = new Set(pages);

rmSync(target, { recursive: true, force: true });
for (const page of pages) {
  const place = join(target, placeOf(page));
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, converted(readFileSync(join(root, page), "utf8"), page));
}
writeFileSync(join(target, "docs", "decisions", "index.md"), decisions());
for (const image of globSync("docs/**/*.{svg,png}", { cwd: root }))
  cpSync(join(root, image), join(target, image));

/** The list of decision records, the newest first. */
function decisions(): string {
  const records = pages
    .filter((page) => page.startsWith("docs/decisions/"))
    .toSorted((a, b) => b.localeCompare(a));
  const lines = records.map((page) => {
    const [title = page] = readFileSync(join(root, page), "utf8").split("\n", 1);
    return `- [${title.replace(/^# /, "")}](/${page})`;
  });
  return `# Decisions\n\nWhy things are the way they are.\n\n${lines.join("\n")}\n`;
}

function placeOf(page: string): string {
  return page.replace(/(^|\/)README\.md$/, "$1index.md");
}

/** The text of a page outside of its code blocks, rewritten; its code as it is. */
function converted(text: string, page: string): string {
  const parts = text.split(/^(```[\s\S]*?^```$|~~~[\s\S]*?^~~~$)/m);
  return parts.map((part, index) => (index % 2 === 1 ? part : convertedText(part, page))).join("");
}

function convertedText(text: string, page: string): string {
  return text
    .replaceAll(/^<a id="([\w-]+)"><\/a>\n+(#+ .*)$/gm, "$2 {#$1}")
    .replaceAll(/^(#+ .*?) ?<a id="([\w-]+)"><\/a>$/gm, "$1 {#$2}")
    .replaceAll(/(?<!!)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (whole, words: string, link: string) => {
      if (/^([a-z]+:|#)/.test(link)) return whole;
      const [path = "", anchor] = link.split("#");
      const file = normalize(join(dirname(page), path));
      if (normalize(join(root, file)) === join(root, "docs", "decisions"))
        return `[${words}](/docs/decisions/)`;
      const named = [file, join(file, "README.md")].find((one) => known.has(one));
      if (named === undefined) return existsSync(join(root, file)) ? words : whole;
      return `[${words}](/${placeOf(named)}${anchor === undefined ? "" : `#${anchor}`})`;
    });
}
