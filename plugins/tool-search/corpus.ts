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

/** A passage that was found. A higher `score` is better. */
export interface Found extends Passage {
  score: number;
}

const folderFiles = "**/*.{md,txt}";
/** The maximum characters of a passage from a file in a folder. Longer files are split at empty lines. */
const longest = 2000;

/** The files of a corpus: a JSON Lines file, or a folder's text and Markdown files in a fixed order. */
export function corpusFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return globSync(folderFiles, { cwd: path })
    .sort()
    .map((name) => join(path, name));
}

/** Identifies a corpus by its content, the SHA-256 of its files. */
export async function corpusDigest(path: string): Promise<string> {
  const hash = createHash("sha256");
  for (const file of corpusFiles(path)) {
    hash.update(`${file.slice(path.length)}\0${statSync(file).size}\0`);
    for await (const chunk of createReadStream(file)) hash.update(chunk);
  }
  return hash.digest("hex");
}

/**
 * Reads the passages of a corpus. A JSON line has `contents`, "title\ntext" as in Search-R1, or `title` and
 * `text`. A file in a folder is one passage named by its path, or several if it is long. Throws with file and
 * line if a line is invalid.
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
