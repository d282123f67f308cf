import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { defined } from "../../base/records/defined.ts";

/** The programs of this machine that run code in a bubblewrap or gVisor sandbox. */
export interface Interpreters {
  python: string;
  /** A Node.js that the sandbox's user can access. */
  node?: string;
  /** Set for a process of root's, which starts the sandbox's processes as another user. */
  setpriv?: string;
}

const pythons = ["/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3"];

/** Finds the interpreters, or returns what is missing with a remedy. */
export function findInterpreters(): Interpreters | { missing: string } {
  if (process.platform !== "linux") return { missing: `it needs Linux, and this is ${process.platform}` };
  const python = pythons.find(isProgram);
  if (python === undefined)
    return { missing: `there is no Python (${pythons.join(", ")}); install the package python3` };
  const setpriv = onPath("setpriv");
  const isRoot = process.getuid?.() === 0;
  if (isRoot && setpriv === undefined)
    return { missing: "root's processes can't be limited without setpriv; install the package util-linux" };
  const node = [process.execPath, "/usr/bin/node", "/usr/local/bin/node"].find(
    (path) => isProgram(path) && (!isRoot || isForAll(path)),
  );
  return defined({
    python,
    node,
    setpriv: isRoot && setpriv !== undefined ? setpriv : undefined,
  });
}

export function onPath(name: string): string | undefined {
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

/** Whether every user can access a file, because all folders above it may be entered. */
export function isForAll(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
