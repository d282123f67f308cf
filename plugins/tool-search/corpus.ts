import { createHash } from "node:crypto";
import { createReadStream, globSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";

/** A passage of a corpus. */
export interface Passage {
  id: string;
  title: string;
  text: string;
}

/** A passage that was found; `score` is higher for better ones. */
export interface Found extends Passage {
  score: number;
}

const folderFiles = "**/*.{md,txt}";
/** What of a file in a folder is one passage, characters; cut at empty lines. */
const longest = 2000;

/** The files of a corpus: JSON Lines, or a folder's texts and Markdown in a fixed order. */
export function corpusFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return globSync(folderFiles, { cwd: path })
    .sort()
    .map((name) => join(path, name));
}

/** Names a corpus by its content: SHA-256 of its files. */
export async function corpusDigest(path: string): Promise<string> {
  const hash = createHash("sha256");
  for (const file of corpusFiles(path)) {
    hash.update(`${file.slice(path.length)}\0${statSync(file).size}\0`);
    for await (const chunk of createReadStream(file)) hash.update(chunk);
  }
  return hash.digest("hex");
}

/**
 * The passages of a corpus. A line of JSON has `contents`, "title\ntext" as Search-R1's have it, or `title` and `text`; a file of a
 * folder is a passage, or several if it is long, named by its path. Throws, with file and line, where a line is none.
 */
export async function* passages(path: string): AsyncGenerator<Passage> {
  if (statSync(path).isDirectory()) {
    for (const file of corpusFiles(path)) yield* filePassages(file, file.slice(path.length + 1));
    return;
  }
  let line = 0;
  for await (const json of createInterface({ input: createReadStream(path) })) {
    line++;
    if (json.trim() === "") continue;
    yield linePassage(json, `${path}:${line}`, String(line - 1));
  }
}

function linePassage(json: string, at: string, number: string): Passage {
  let row: unknown;
  try {
    row = JSON.parse(json);
  } catch (error) {
    throw new Error(`${at} is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  const { id = number, title = "", text, contents } = Object(row);
  if (typeof contents === "string") {
    const end = contents.indexOf("\n");
    const head = end < 0 ? "" : contents.slice(0, end).replace(/^"(.*)"$/, "$1");
    return { id: String(id), title: head, text: contents.slice(end + 1) };
  }
  if (typeof text !== "string") throw new Error(`${at} has neither “contents” nor “text”`);
  return { id: String(id), title: String(title), text };
}

function* filePassages(file: string, name: string): Generator<Passage> {
  const text = readFileSync(file, "utf8");
  const title = extname(file) === ".md" ? (text.match(/^#+ (.+)$/m)?.[1] ?? name) : name;
  let passage = "";
  let number = 0;
  for (const part of [...text.split(/\n\s*\n/), undefined]) {
    if (passage !== "" && (part === undefined || passage.length + part.length > longest)) {
      yield { id: number === 0 ? name : `${name}#${number}`, title, text: passage };
      number++;
      passage = "";
    }
    if (part !== undefined && part.trim() !== "") passage += (passage === "" ? "" : "\n\n") + part.trim();
  }
}
