import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { isObject, type JsonObject, type Task, toolKwargs } from "everturn/plugin";
import { readBundle } from "./bundle.ts";
import { readFolder } from "./folder.ts";
import { Mistake } from "./mistake.ts";
import { readArchive, unpacked } from "./tarball.ts";
import { Tree, type TreeLimits, treePath } from "./tree.ts";

type Files = [string, Uint8Array][];

/** Milliseconds for reading an archive. */
const longest = 50_000;
/** The number of archives whose files are kept, the most recently read ones. */
const mostKept = 16;
const kept = new Map<string, Promise<Files>>();

/** A task's settings for its files. */
interface Said {
  source: string | undefined;
  commit: string | undefined;
  /** Files laid over the source's. */
  files: Files;
}

/**
 * Returns the files that a task provides in verl's form, in
 * `extra_info.tools_kwargs.workspace.create_kwargs`. `source`, or else the configured source, is a folder, a
 * tarball or a git bundle at `commit` below the configured folder. `files`, texts by path, are laid over it.
 * Throws Mistake for an invalid source.
 */
export async function taskTree(task: Task, config: JsonObject): Promise<Tree> {
  const { source, commit, files } = saidOf(task, config);
  const limits = limitsOf(config);
  const fromSource = source === undefined ? [] : await sourceFiles(source, commit, limits, config);
  return new Tree(new Map([...fromSource, ...files]), limits);
}

/** Throws Mistake if a task's own files don't fit, or its source does not exist. Does not read archives. */
export async function checkSource(task: Task, config: JsonObject): Promise<void> {
  const { source, files } = saidOf(task, config);
  new Tree(files, limitsOf(config));
  if (source !== undefined) await found(source, config);
}

function saidOf(task: Task, config: JsonObject): Said {
  const { create_kwargs } = toolKwargs(task, "workspace");
  const { files: texts = {}, source = config.source, commit = config.commit } = create_kwargs;
  if (!isObject(texts)) throw new Mistake("create_kwargs.files is not an object of texts by path");
  const files = Object.entries(texts).map(([path, text]): [string, Uint8Array] => {
    if (typeof text !== "string") throw new Mistake(`create_kwargs.files: ${path} is not text`);
    return [treePath(path), Buffer.from(text)];
  });
  return {
    source: typeof source === "string" ? source : undefined,
    commit: typeof commit === "string" ? commit : undefined,
    files,
  };
}

function limitsOf({ files, bytes }: JsonObject): TreeLimits {
  return { files: Number(files), bytes: Number(bytes) };
}

async function sourceFiles(
  source: string,
  commit: string | undefined,
  limits: TreeLimits,
  config: JsonObject,
): Promise<Files> {
  const { place, status } = await found(source, config);
  try {
    if (status.isDirectory()) return await readFolder(place, limits);
    const key = JSON.stringify([place, status.mtimeMs, status.size, commit, limits, config.sandbox]);
    return await keptFiles(key, () => archiveFiles(place, commit, limits, config));
  } catch (error) {
    if (error instanceof Mistake) throw untaken(source, error.message);
    throw error;
  }
}

/** Resolves a source. It must be below the configured folder, also after following all symbolic links. */
async function found(source: string, { folder }: JsonObject): Promise<{ place: string; status: Stats }> {
  if (typeof folder !== "string")
    throw untaken(source, "set `folder` in the tool's configuration to its location");
  const root = await realpath(folder);
  const place = await realpath(join(root, treePath(source))).catch(() => undefined);
  if (place === undefined) throw untaken(source, `it is not in ${folder}`);
  if (!place.startsWith(root + sep)) throw untaken(source, `a symbolic link leads out of ${folder}`);
  const status = await stat(place);
  if (!status.isDirectory() && !/\.(tar|tar\.gz|tgz|bundle)$/.test(place))
    throw untaken(source, "it is neither a folder nor a .tar, .tar.gz, .tgz or .bundle file");
  return { place, status };
}

function untaken(source: string, reason: string): Mistake {
  return new Mistake(`the source ${source} can't be taken: ${reason}`);
}

async function archiveFiles(
  place: string,
  commit: string | undefined,
  limits: TreeLimits,
  config: JsonObject,
): Promise<Files> {
  if (place.endsWith(".bundle")) return readBundle(place, commit, limits, config);
  return unpacked(await readArchive(place, !place.endsWith(".tar"), limits, AbortSignal.timeout(longest)));
}

/** Returns the result of `read`, which runs once for all trajectories of a thread. */
function keptFiles(key: string, read: () => Promise<Files>): Promise<Files> {
  const known = kept.get(key);
  const files = known ?? read();
  kept.delete(key);
  kept.set(key, files);
  if (known === undefined) files.catch(() => kept.delete(key)); // the next trajectory reads it again
  for (const oldest of kept.keys()) {
    if (kept.size <= mostKept) break;
    kept.delete(oldest);
  }
  return files;
}
