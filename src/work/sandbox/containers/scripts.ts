import { posix } from "node:path";
import type { ContainerFiles } from "./container.ts";

/** The folder for the files of a session's programs. */
export const workingFolder = "/work";

/** The base64 characters of a file that one here-document holds. A shell keeps each in memory. */
const part = 2 ** 20;

/** Quotes a text for `sh`. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns a script for the standard input of `sh` that writes files. Below the working folder, it replaces anything
 * that is in the way, and lets every user change the files.
 */
export function writeScript(files: ContainerFiles): string {
  const lines = ["set -e", 'folder() { [ -d "$1" ] && [ ! -L "$1" ] || { rm -rf "$1"; mkdir "$1"; }; }'];
  for (const [path, content] of Object.entries(files)) {
    const own = path.startsWith(`${workingFolder}/`);
    lines.push(own ? "umask 0" : "umask 022");
    if (own) lines.push(...foldersOf(path).map((folder) => `folder ${quoted(folder)}`));
    else lines.push(`mkdir -p ${quoted(posix.dirname(path))}`);
    lines.push(`rm -rf ${quoted(path)}`, `: >${quoted(path)}`);
    const encoded = Buffer.from(content).toString("base64");
    for (let at = 0; at < encoded.length; at += part)
      lines.push(
        `base64 -d >>${quoted(path)} <<'.'`,
        `${encoded.slice(at, at + part).replaceAll(/.{1,76}/g, "$&\n")}.`,
      );
  }
  return `${lines.join("\n")}\n`;
}

/** The folders between the working folder and a file below it. */
function foldersOf(path: string): string[] {
  const names = posix.relative(workingFolder, path).split("/").slice(0, -1);
  return names.map((_, index) => posix.join(workingFolder, ...names.slice(0, index + 1)));
}

/** Returns a script that prints the files at or below a path, for `filesRead`. */
export function readScript(path: string): string {
  const each = 'for file do printf ":%s//\\n" "$file"; base64 "$file"; done';
  return `[ -e ${quoted(path)} ] || exit 0; find ${quoted(path)} -type f -exec sh -c ${quoted(each)} sh {} +`;
}

/** The files that `readScript` printed, by their paths. */
export function filesRead(printed: string): Record<string, Uint8Array> {
  const files: [string, Uint8Array][] = [];
  for (const [, path = "", content] of printed.matchAll(/^:([\s\S]*?)\/\/\n([^:]*)/gm))
    files.push([path, Buffer.from(content ?? "", "base64")]);
  return Object.fromEntries(files);
}

/** The most files and bytes of paths that a list has. */
const [mostListed, longestList] = [10_000, 2 ** 20];

/** A script that prints the files in the working folder, for `filesListed`. */
export const listScript = `cd ${workingFolder} && find . -type f -exec stat -c '%s %n//' {} + | head -c ${longestList + 1}`;

/** The files that `listScript` printed. If there are more, one entry has the path `./`. */
export function filesListed(printed: string): { path: string; size: number }[] {
  const files = [...printed.matchAll(/^(\d+) \.\/([\s\S]*?)\/\/\n/gm)].map(([, size, path = ""]) => ({
    path,
    size: Number(size),
  }));
  const isCut = files.length > mostListed || Buffer.byteLength(printed) > longestList;
  return isCut ? [...files.slice(0, mostListed), { path: "./", size: 0 }] : files;
}
