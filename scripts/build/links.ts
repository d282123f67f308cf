import { dirname, posix } from "node:path";

/** A link of a page to a path; `target` may end with #heading. */
const link = /(?<!!)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;
const image = /!\[[^\]]*\]\(([^()\s]+)\)/g;

/** Whether the package contains this path, which is relative to the package's folder. */
type Ships = (path: string) => boolean;

/**
 * A page of the clone as it is published. Links to sources lead to the compiled files, links to other packages to npm's
 * pages, and links to tests, which are not published, become plain text. `page` is its path in the package.
 */
export function publishedPage(text: string, page: string, ships: Ships): string {
  return text.replaceAll(link, (whole: string, words: string, target: string) => {
    const path = pathOf(target, page);
    if (path === undefined || ships(path)) return whole;
    const [, name] = /^(?:packages|plugins)\/([\w-]+)/.exec(path) ?? [];
    if (name !== undefined) return `[${words}](https://www.npmjs.com/package/@everturn/${name})`;
    if (path.startsWith("tests/")) return words;
    // Contracts are types, which only declarations contain.
    const compiled = path.startsWith("src/contracts/") ? ".d.ts" : ".js";
    return `[${words}](${target.replace(/\.ts$/, compiled)})`;
  });
}

/** The links of a published page that lead to nothing in its package. `read` returns another page's text. */
export function deadLinks(
  text: string,
  page: string,
  ships: Ships,
  read: (page: string) => string,
): string[] {
  const prose = withoutCode(text);
  const targets = [...prose.matchAll(link)].map(([, , target = ""]) => target);
  const images = [...prose.matchAll(image)].map(([, target = ""]) => target);
  return [...targets, ...images].filter((target) => {
    const path = pathOf(target, page);
    if (path === undefined) return false;
    if (path.startsWith("..") || !ships(path)) return true;
    const [, heading] = target.split("#");
    return (
      heading !== undefined &&
      path.endsWith(".md") &&
      !anchors(path === page ? text : read(path)).has(heading)
    );
  });
}

/** The path in the package that a link leads to; undefined if it is a URL. */
function pathOf(target: string, page: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = ""] = target.split("#");
  return path === "" ? page : posix.join(dirname(page), path).replace(/\/$/, "");
}

/** The names by which links refer to a page's headings, as GitHub and npm build them. */
function anchors(text: string): Set<string> {
  const found = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, name = ""]) => name));
  for (const [, heading = ""] of withoutCode(text).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const words = heading.replaceAll(link, "$1").toLowerCase();
    const slug = words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    let name = slug;
    for (let count = 1; found.has(name); count += 1) name = `${slug}-${count}`;
    found.add(name);
  }
  return found;
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ {0,3}(```|~~~)[\s\S]*?^ {0,3}\1/gm, "");
}
