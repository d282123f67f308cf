import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

/** What a machine has of what a sandbox is made of. */
export interface Machine {
  bwrap: string;
  /** Whether it knows `--disable-userns` (0.8). */
  canDisableNamespaces: boolean;
  python: string;
  /** A Node.js that the sandbox's user can reach. */
  node?: string;
  /** Of a process of root's: who starts the sandbox's processes as another user. */
  setpriv?: string;
}

const pythons = ["/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3"];

/** Finds bubblewrap and the interpreters; or says what is missing, and what to do. */
export async function findMachine(): Promise<Machine | { missing: string }> {
  if (process.platform !== "linux") return { missing: `it needs Linux, and this is ${process.platform}` };
  const bwrap = onPath("bwrap");
  if (bwrap === undefined) return { missing: "bwrap is not on PATH; install the package bubblewrap" };
  const python = pythons.find(isProgram);
  if (python === undefined)
    return { missing: `there is no Python (${pythons.join(", ")}); install the package python3` };
  const setpriv = onPath("setpriv");
  const isRoot = process.getuid?.() === 0;
  if (isRoot && setpriv === undefined)
    return { missing: "root's processes can't be limited without setpriv; install the package util-linux" };
  const { stdout } = await promisify(execFile)(bwrap, ["--help"]);
  const node = [process.execPath, "/usr/bin/node", "/usr/local/bin/node"].find(
    (path) => isProgram(path) && (!isRoot || isForAll(path)),
  );
  return {
    bwrap,
    canDisableNamespaces: stdout.includes("--disable-userns"),
    python,
    ...(node === undefined ? {} : { node }),
    ...(isRoot && setpriv !== undefined ? { setpriv } : {}),
  };
}

function onPath(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin", "/bin", "/usr/sbin"];
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether every user can reach a file: all folders above it may be entered. */
function isForAll(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
