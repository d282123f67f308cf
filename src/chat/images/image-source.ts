import { createHash } from "node:crypto";
// biome-ignore lint/style/noRestrictedImports: images that a person's rows name
import { readFile, realpath, stat } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** A task's image or video: in a file inside the folder, or in the task itself. */
type Source = { path: string; sha256?: string } | { data: Uint8Array };

/**
 * Reads an image that a task's row names: a path inside `folder`, a `data:` URL in base64, `{ bytes }` in base64, `{
 * path }`, `{ url }` or `{ sha256 }`, of at most `most` bytes. Throws an error that explains why it is not
 * available.
 */
export async function readImage(
  given: unknown,
  folder: string | undefined,
  most: number,
): Promise<Uint8Array> {
  const source = sourceOf(given);
  if ("data" in source) {
    if (source.data.length <= most) return source.data;
    throw new Error(tooLarge(source.data.length, most));
  }
  const file = await fileBelow(folder, source.path);
  const { size } = await stat(file);
  if (size > most) throw new Error(tooLarge(size, most));
  const data = await readFile(file);
  if (source.sha256 === undefined || createHash("sha256").update(data).digest("hex") === source.sha256)
    return data;
  throw new Error(`${source.path} has another content than its digest says`);
}

/** The path of a video that a task's row names, inside `folder`. Throws an error that explains why there is none. */
export async function videoFile(given: unknown, folder: string | undefined): Promise<string> {
  const source = sourceOf(given);
  if ("path" in source) return fileBelow(folder, source.path);
  throw new Error("a video must be a file: name its path");
}

function sourceOf(given: unknown): Source {
  if (typeof given === "string") return textSource(given);
  const { bytes, path, url, image, video, sha256 } = objectOf(given);
  if (typeof bytes === "string") return { data: Buffer.from(bytes, "base64") };
  if (typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256))
    return { path: `${sha256.slice(0, 2)}/${sha256}.bin`, sha256 }; // the layout of a run's store
  for (const one of [path, url, image, video]) if (typeof one === "string") return textSource(one);
  throw new Error("it must be a path, a data: URL, { bytes } in base64, { path }, { url } or { sha256 }");
}

function textSource(text: string): Source {
  const [, encoded] = /^data:[^,]*;base64,(.*)$/s.exec(text) ?? [];
  if (encoded !== undefined) return { data: Buffer.from(encoded, "base64") };
  if (text.startsWith("file:")) return { path: fileURLToPath(text) };
  if (!/^[a-z][a-z0-9+.-]+:/i.test(text)) return { path: text };
  throw new Error(`${text.slice(0, 100)} is not fetched: only files and data: URLs in base64 are read`);
}

/** The path of a file inside the folder. Neither a path nor a symbolic link may lead out of it. */
async function fileBelow(folder: string | undefined, path: string): Promise<string> {
  if (folder === undefined) throw new Error(`nothing says the folder below which ${path} lies`);
  const root = await realpath(folder);
  const file = await realpath(resolve(root, path));
  if (!file.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new Error(`${path} is not below ${folder}`);
  if (!(await stat(file)).isFile()) throw new Error(`${path} is not a file`);
  return file;
}

function tooLarge(bytes: number, most: number): string {
  return `it has ${bytes} bytes, and may have ${most}`;
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
