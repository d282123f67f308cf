import { createReadStream } from "node:fs";
import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject, type JsonObject, type JsonValue } from "../../../../contracts/json.ts";
import { type TarEntry, tarEntries, writeEntry } from "./tar-entries.ts";

/** An image on this machine's disk. */
export interface StoredImage {
  /** The files of its layers, from the lowest. */
  layers: string[];
  /** Empty: root. */
  user: string;
  /** The working folder of its programs. */
  folder: string;
  environment: Record<string, string>;
}

/** Reads an OCI layout, or the folder that an archive of `docker save` unpacks to. Throws for anything else. */
export async function readStoredImage(folder: string): Promise<StoredImage> {
  const index = await json(join(folder, "index.json")).catch(() => undefined);
  if (index !== undefined) return readManifest(folder, index);
  const [first] = list(await json(join(folder, "manifest.json")));
  const { Config, Layers } = isObject(first) ? first : {};
  return imageOf(
    await json(inside(folder, String(Config))),
    list(Layers).map((layer) => inside(folder, String(layer))),
  );
}

/** Follows an index to the manifest for this machine. */
async function readManifest(folder: string, document: JsonValue): Promise<StoredImage> {
  const { manifests, config, layers } = isObject(document) ? document : {};
  const blob = (described: JsonValue | undefined) => {
    const [algorithm = "", hash = ""] = String(isObject(described) ? described.digest : "").split(":");
    return inside(folder, join("blobs", algorithm, hash));
  };
  if (config !== undefined) return imageOf(await json(blob(config)), list(layers).map(blob));
  const all = list(manifests).filter(isObject);
  const own = all.find(({ platform }) => isObject(platform) && isOwn(platform)) ?? all[0];
  if (own === undefined) throw new Error("its index names no image");
  return readManifest(folder, await json(blob(own)));
}

const architectures: Record<string, string> = { x64: "amd64" };

function isOwn({ os, architecture }: JsonObject): boolean {
  return os === "linux" && architecture === (architectures[process.arch] ?? process.arch);
}

function imageOf(document: JsonValue, layers: string[]): StoredImage {
  const { config } = isObject(document) ? document : {};
  const { User, WorkingDir, Env } = isObject(config) ? config : {};
  return {
    layers,
    user: typeof User === "string" ? User : "",
    folder: typeof WorkingDir === "string" && WorkingDir.startsWith("/") ? WorkingDir : "/",
    environment: Object.fromEntries(
      list(Env).map((one) => {
        const [, name = "", value = ""] = /^([^=]*)=?([\s\S]*)$/.exec(String(one)) ?? [];
        return [name, value];
      }),
    ),
  };
}

/** A path that a document names, below the folder. */
function inside(folder: string, path: string): string {
  if (!/^[\w][\w./-]*$/.test(path) || path.split("/").includes(".."))
    throw new Error(`it names the file ${path}`);
  return join(folder, path);
}

function list(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

async function json(path: string): Promise<JsonValue> {
  return JSON.parse(await readFile(path, "utf8"));
}

/** Unpacks an archive of an image: `docker save`, or an OCI layout in a tar file. Its links are left out. */
export async function unpackArchive(archive: string, folder: string): Promise<void> {
  const unpack = async (entry: TarEntry) => {
    if (entry.type !== "file") return;
    const path = inside(folder, entry.path);
    await mkdir(dirname(path), { recursive: true });
    await writeEntry(entry, path, 0o644);
  };
  await tarEntries(createReadStream(archive), unpack);
}

/** Whether an image is in an archive, as opposed to a folder. Throws if there is neither. */
export async function isArchive(path: string): Promise<boolean> {
  return !(await stat(path)).isDirectory();
}
