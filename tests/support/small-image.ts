import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Header } from "tar";
import { onPath } from "../../src/work/sandbox/interpreters.ts";

/** The programs of a small image: a shell, and what sessions need. */
const programs =
  "sh cat mkdir mkfifo chmod rm base64 date find stat head sed tar xargs ls ln sleep id awk tr grep touch sort tail wc".split(
    " ",
  );

/** Fills a folder with programs of this machine and their libraries. Undefined where their libraries are unknown. */
export function smallRoot(folder: string, names: readonly string[] = programs): string | undefined {
  if (!existsSync("/usr/bin/ldd")) return undefined;
  const put = (from: string, to: string) => {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    copyFileSync(realpathSync(from), join(folder, to));
  };
  for (const name of names) {
    const path = onPath(name);
    if (path === undefined) return undefined;
    put(path, join("bin", name));
    const libraries = execFileSync("ldd", [realpathSync(path)], { encoding: "utf8" });
    for (const [, library = ""] of libraries.matchAll(/(\/\S+) \(0x/g)) put(library, library);
  }
  mkdirSync(join(folder, "etc"));
  mkdirSync(join(folder, "tmp"));
  writeFileSync(
    join(folder, "etc", "passwd"),
    "root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/tmp:/bin/sh\n",
  );
  writeFileSync(join(folder, "etc", "group"), "root:x:0:\nagent:x:1000:\n");
  return folder;
}

/** The files of a folder as a tar archive. */
export function tarOfFolder(folder: string): Buffer {
  return execFileSync("tar", ["-C", folder, "-c", "."], { maxBuffer: 2 ** 28 });
}

/** An entry of a tar archive: a text, a link's target, or nothing for a folder. */
export interface Entry {
  path: string;
  text?: string;
  link?: string;
  hardLink?: string;
  mode?: number;
}

/** A tar archive of entries. */
export function tarOf(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ path, text, link, hardLink, mode = 0o755 }) => {
    const content = Buffer.from(text ?? "");
    const type =
      link !== undefined
        ? "SymbolicLink"
        : hardLink !== undefined
          ? "Link"
          : text === undefined
            ? "Directory"
            : "File";
    const header = Buffer.alloc(512);
    new Header({ path, linkpath: link ?? hardLink ?? "", type, mode, size: content.length }).encode(header);
    return [header, content, Buffer.alloc(-content.length & 511)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** Writes an OCI layout with these layers, from the lowest. */
export function writeLayout(folder: string, layers: readonly Uint8Array[], config: object = {}): string {
  const blobs = join(folder, "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  const blob = (content: Uint8Array | string) => {
    const hash = createHash("sha256").update(content).digest("hex");
    writeFileSync(join(blobs, hash), content);
    return { digest: `sha256:${hash}`, size: Buffer.byteLength(content) };
  };
  const manifest = { config: blob(JSON.stringify({ config })), layers: layers.map(blob) };
  writeFileSync(join(folder, "index.json"), JSON.stringify({ manifests: [blob(JSON.stringify(manifest))] }));
  return folder;
}
