import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { isForAll } from "../../interpreters.ts";

const run = promisify(execFile);
const prefix = "everturn-image-";

/** A folder of this process for the files of containers. The next process removes it if this one is killed. */
export interface FilesFolder {
  path: string;
  remove(): Promise<void>;
}

/** Makes a folder that the sandbox's user can enter. */
export async function filesFolder(): Promise<FilesFolder> {
  const path = await mkdtemp(join(parent(), `${prefix}${process.pid}-`));
  await chmod(path, 0o711);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true }).catch(async () => {
        await run("chmod", ["-R", "u+rwX", path]); // a program left folders without permissions
        await rm(path, { recursive: true, force: true });
      });
    },
  };
}

/** A copy of an image's files, which the sandbox's user can enter. */
export interface FilesCopy {
  root: string;
  remove(): Promise<void>;
}

/** Copies files for the programs of a user, or of this process's own. */
export async function copyFiles(from: string, owner: number | undefined): Promise<FilesCopy> {
  const place = await filesFolder();
  const root = join(place.path, "root");
  await run("cp", ["-a", "--reflink=auto", from, root]);
  await ownedBy(root, owner);
  return { root, remove: place.remove };
}

/** Gives a folder and everything below it to a user, if there is one. */
export async function ownedBy(path: string, owner: number | undefined): Promise<void> {
  if (owner !== undefined) await run("chown", ["-R", "-h", `${owner}:${owner}`, path]);
}

/** Makes a folder in place of anything else that a program left there. */
export async function replaceByFolder(path: string, owner: number | undefined): Promise<void> {
  if ((await lstat(path).catch(() => undefined))?.isDirectory()) return;
  await rm(path, { recursive: true, force: true });
  await mkdir(path);
  if (owner !== undefined) await chown(path, owner, owner);
}

/** Removes folders that ended processes left behind. */
export async function sweepFilesFolders(): Promise<void> {
  for (const name of (await readdir(parent())).filter((one) => one.startsWith(prefix))) {
    const pid = name.slice(prefix.length).split("-")[0] ?? "";
    if (!existsSync(join("/proc", pid))) await rm(join(parent(), name), { recursive: true, force: true });
  }
}

function parent(): string {
  return process.getuid?.() === 0 && !isForAll(tmpdir()) ? "/tmp" : tmpdir();
}
