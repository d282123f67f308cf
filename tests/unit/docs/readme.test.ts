import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { pages, pageText } from "../../support/doc-snippets.ts";

const root = join(import.meta.dirname, "..", "..", "..");

test("docs/dependencies.md has a line for each dependency, and no other", async () => {
  const page = await readFile(join(root, "docs", "dependencies.md"), "utf8");
  const tables = page.slice(0, page.indexOf("## Outside npm"));
  const listed = [...tables.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect(listed).toEqual([
    ...Object.keys(packageJson.dependencies),
    ...Object.keys(packageJson.optionalDependencies),
    ...Object.keys(packageJson.devDependencies),
  ]);
});

test("links of the documentation lead somewhere, to a heading if they name one", () => {
  const broken: string[] = [];
  for (const page of [...pages, "CHANGELOG.md"]) {
    const links = [...pageText(page).matchAll(/\]\((?!http)([^)#]*)(?:#([^)]+))?\)/g)];
    for (const [link, path = "", heading] of links) {
      const target = path === "" ? page : join(dirname(page), path);
      const isThere = existsSync(join(root, target));
      const isMissed = isThere && heading !== undefined && !headingsOf(target).includes(heading);
      if (!isThere || isMissed) broken.push(`${page}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
});

/** The names by which links reach a page's headings: GitHub's own, and explicit anchors. */
function headingsOf(page: string): string[] {
  const text = pageText(page);
  const explicit = [...text.matchAll(/^<a id="([^"]+)"><\/a>$/gm)].map(([, id = ""]) => id);
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
  return [...headings, ...explicit];
}
