import { readdir, readFile, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import type { TaskEnvironment } from "./task.ts";

/** What a Dockerfile adds to its base image, if it runs nothing. */
export interface Additions {
  files: Record<string, Uint8Array>;
  workdir: string | undefined;
  variables: Record<string, string>;
}

/**
 * Reads the instructions of an environment's Dockerfile that need no build: COPY, WORKDIR, ENV, and those that change no file. Throws
 * an error that names another one.
 */
export async function additionsOf({ image, folder }: TaskEnvironment): Promise<Additions> {
  if (image !== undefined) return { files: {}, workdir: undefined, variables: {} };
  const path = join(folder, "Dockerfile");
  const lines = (await readFile(path, "utf8")).replace(/\\\r?\n/g, " ").split("\n");
  const additions: Additions = { files: {}, workdir: undefined, variables: {} };
  for (const line of lines.map((one) => one.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    const [, instruction = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    const name = instruction.toUpperCase();
    if (name === "WORKDIR") additions.workdir = posix.resolve(additions.workdir ?? "/", rest);
    else if (name === "ENV") Object.assign(additions.variables, Object.fromEntries(variables(rest)));
    else if (name === "COPY") await copy(folder, rest, additions);
    else if (!["FROM", "CMD", "LABEL", "EXPOSE"].includes(name))
      throw new Error(
        `${path}: ${instruction} needs an engine that builds the image: leave out \`sandbox.image\``,
      );
  }
  return additions;
}

function variables(rest: string): [string, string][] {
  const pairs = [...rest.matchAll(/(\w+)=(?:"([^"]*)"|(\S*))/g)];
  if (pairs.length > 0) return pairs.map(([, key = "", quoted, plain]) => [key, quoted ?? plain ?? ""]);
  const [, name = "", value = ""] = /^(\w+)\s+(.*)$/.exec(rest) ?? [];
  return [[name, value]];
}

async function copy(folder: string, rest: string, { files, workdir = "/" }: Additions): Promise<void> {
  const words = rest.startsWith("[") ? fromJson(rest) : rest.split(/\s+/);
  const target = words.pop() ?? "";
  const sources = words.filter((word) => !word.startsWith("--"));
  if (sources.length < words.length || sources.some((source) => /[*?]/.test(source) || source.includes("..")))
    throw new Error(`${join(folder, "Dockerfile")}: COPY ${rest} needs an engine that builds the image`);
  for (const source of sources) {
    const from = join(folder, source);
    const isFolder = (await stat(from)).isDirectory();
    const into = posix.resolve(workdir, target);
    const isInto = target.endsWith("/") || sources.length > 1 || target === ".";
    const names = isFolder ? await readdir(from, { recursive: true, withFileTypes: true }) : [];
    for (const entry of names.filter((one) => one.isFile())) {
      const whole = join(entry.parentPath, entry.name);
      files[posix.join(into, whole.slice(from.length + 1))] = await readFile(whole);
    }
    if (!isFolder) files[isInto ? posix.join(into, posix.basename(source)) : into] = await readFile(from);
  }
}

function fromJson(rest: string): string[] {
  const words: unknown = JSON.parse(rest);
  return Array.isArray(words) ? words.map(String) : [];
}
