import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** A fenced block of a page of the documentation. */
export interface Snippet {
  /** Such as docs/tools.md. */
  readonly page: string;
  /** Of its first fence, from 1. */
  readonly line: number;
  /** "" if the fence names none. */
  readonly language: string;
  /** What the fence names it, after its language, or a comment in its first line: tools/length.ts. */
  readonly file: string | undefined;
  readonly text: string;
}

/** The pages that people read: README, CONTRIBUTING and docs/, without decision records. */
export const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** The text of a page. */
export function pageText(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** Every fenced block of a page, in order. */
export function snippetsOf(page: string): Snippet[] {
  const text = pageText(page);
  return [...text.matchAll(/^```(\w*) ?(\S*)\n(.*?)^```$/gms)].map((found) => {
    const [, language = "", named = "", code = ""] = found;
    const [, commented] = /^(?:\/\/|#) ([\w./-]+\.(?:ts|yaml))\b/.exec(code) ?? [];
    const line = text.slice(0, found.index).split("\n").length;
    return { page, line, language, file: named === "" ? commented : named, text: code };
  });
}
