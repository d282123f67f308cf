import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { cacheFolder } from "../../base/files/cache-folder.ts";
import { folderDigest } from "../../base/files/folder-digest.ts";
import { removeFile } from "../../base/files/remove-file.ts";
import { sha256 } from "../../base/files/sha256.ts";
import { readRecord, writeOnce } from "../../base/files/whole-files.ts";
import { processLog } from "../../base/processes/process-log.ts";
import { onPath } from "../../work/sandbox/interpreters.ts";
import { keptProcess } from "./kept-process.ts";
import type { ServerStart } from "./server-start.ts";

const run = promisify(execFile);
const programs = process.platform === "win32" ? "Scripts" : "bin";

interface Options {
  key: string;
  log: string;
  stopping: AbortSignal;
}

/**
 * The folder with the programs of a server's Python environment, which is cached by the digest of its requirements.
 * Undefined if the server needs none. Throws SERVER_PYTHON_MISSING, SERVER_NOT_INSTALLED.
 */
export async function pythonPrograms(start: ServerStart, options: Options): Promise<string | undefined> {
  const { python, requirements, folder } = start;
  if (requirements.length === 0 && python === undefined) return undefined;
  if (requirements.length === 0 && isPath(python)) return dirname(resolve(folder, python));
  const contents = await Promise.all(requirements.map((one) => contentOf(one, folder)));
  const digest = createHash("sha256")
    .update(JSON.stringify([python, contents]))
    .digest("hex")
    .slice(0, 16);
  const record = join(cacheFolder(), "python", `${digest}.json`);
  for (;;) {
    const known = await readRecord<{ environment: string }>(record);
    if (known !== undefined) {
      if (await works(pythonOf(known.environment))) return join(known.environment, programs);
      removeFile(record); // its Python was removed from the machine
      await rm(known.environment, { recursive: true, force: true });
    }
    const environment = join(dirname(record), `${digest}-${randomUUID().slice(0, 8)}`);
    await install(environment, start, options);
    if (!(await writeOnce(record, JSON.stringify({ environment }))))
      await rm(environment, { recursive: true, force: true }); // another server was faster
  }
}

function isPath(name: string | undefined): name is string {
  return name !== undefined && /^[./]|^[A-Za-z]:[\\/]/.test(name);
}

function pythonOf(environment: string): string {
  return join(environment, programs, "python");
}

/** Folders that do not belong to a package. */
const apart = [".git", ".venv", "__pycache__", "node_modules"];

/** A requirement, with the digest of what it names on this machine. */
async function contentOf(requirement: string, folder: string): Promise<string[]> {
  const named = requirement.replace(/^-r /, "");
  if (named === requirement && !isPath(named)) return [requirement];
  const path = resolve(folder, named);
  if (!existsSync(path))
    throw new EverturnError("SERVER_NOT_INSTALLED", {
      requirements: requirement,
      lines: `there is no ${path}`,
    });
  const isFolder = (await stat(path)).isDirectory();
  return [requirement, isFolder ? await folderDigest(path, apart) : await sha256(path)];
}

/** Makes an environment with uv, or with venv and pip. */
async function install(environment: string, start: ServerStart, options: Options): Promise<void> {
  const { python, requirements, folder } = start;
  await mkdir(dirname(environment), { recursive: true });
  const uv = onPath("uv");
  const request = python === undefined ? [] : ["--python", python];
  const create =
    uv === undefined
      ? [await findPython(python), "-m", "venv", environment]
      : [uv, "venv", "--quiet", ...request, environment];
  const own = pythonOf(environment);
  const installer =
    uv === undefined
      ? [own, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
      : [uv, "pip", "install", "--quiet", "--python", own];
  try {
    const wanted = python ?? "Python 3";
    await succeed(
      create,
      folder,
      options,
      (lines) => new EverturnError("SERVER_PYTHON_MISSING", { wanted, reason: lines }),
    );
    if (requirements.length === 0) return;
    const given = requirements.flatMap((one) => (one.startsWith("-r ") ? ["-r", one.slice(3)] : [one]));
    const listed = requirements.join(", ");
    await succeed(
      [...installer, ...given],
      folder,
      options,
      (lines) => new EverturnError("SERVER_NOT_INSTALLED", { requirements: listed, lines }),
    );
  } catch (error) {
    await rm(environment, { recursive: true, force: true });
    throw error;
  }
}

/** Runs a command to its end. Throws what `errorOf` makes of its last lines. */
async function succeed(
  command: readonly string[],
  folder: string,
  { key, log, stopping }: Options,
  errorOf: (lines: string) => EverturnError,
): Promise<void> {
  stopping.throwIfAborted();
  const output = processLog(log);
  const { ended, stop } = keptProcess(command, { key, folder, log, environment: {} });
  stopping.addEventListener("abort", stop, { once: true });
  const { isSuccess } = await ended;
  stopping.removeEventListener("abort", stop);
  stopping.throwIfAborted();
  if (!isSuccess) throw errorOf(output.tail());
}

/** The Python that a configuration wants, of those on this machine. Throws SERVER_PYTHON_MISSING. */
async function findPython(wanted: string | undefined): Promise<string> {
  if (isPath(wanted)) return wanted;
  const names = wanted === undefined ? ["python3", "python"] : [`python${wanted}`, "python3", "python"];
  const found: string[] = [];
  for (const name of names) {
    const version = await versionOf(name);
    if (version === undefined) continue;
    if (version.startsWith("3.") && (wanted === undefined || `${version}.`.startsWith(`${wanted}.`)))
      return name;
    found.push(`${name} is ${version}`);
  }
  const reason = `${found.join(", ") || "there is no Python on PATH"}, and uv, which loads other versions, is not on PATH`;
  throw new EverturnError("SERVER_PYTHON_MISSING", {
    wanted: wanted === undefined ? "Python 3" : `Python ${wanted}`,
    reason,
  });
}

async function works(python: string): Promise<boolean> {
  return (await versionOf(python)) !== undefined;
}

/** Undefined if the program does not run, as a shim of a version that is not installed. */
async function versionOf(python: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(python, ["-c", "import platform; print(platform.python_version())"]);
    return stdout.trim();
  } catch {
    return undefined;
  }
}
