import { createHash } from "node:crypto";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../../../base/files/cache-folder.ts";
import { cachedFolder } from "../../../../base/files/cached-folder.ts";
import type { Changes } from "../running-container.ts";
import { copyFiles, replaceByFolder } from "./files-folder.ts";
import { isArchive, readStoredImage, type StoredImage, unpackArchive } from "./stored-image.ts";
import { unpackImage } from "./unpack-image.ts";

/** An image whose files are unpacked in the user's cache. */
export interface UnpackedImage extends StoredImage {
  /** The folder with its files. */
  root: string;
}

/** Unpacks an image, unless the cache has it. Throws for a path that is not an image. */
export async function unpackedImage(path: string): Promise<UnpackedImage> {
  const whole = await realpath(path);
  const { size, mtimeMs } = await stat((await isArchive(whole)) ? whole : join(whole, "."));
  const archive = (await isArchive(whole))
    ? await cachedFolder(cacheOf(["archive", whole, size, mtimeMs]), (folder) => unpackArchive(whole, folder))
    : whole;
  const image = await readStoredImage(archive);
  const sizes = await Promise.all(image.layers.map(async (layer) => (await stat(layer)).size));
  const root = await cachedFolder(cacheOf(["root", image.layers, sizes]), async (folder) => {
    await unpackImage(image.layers, join(folder, "root"));
  });
  return { ...image, root: join(root, "root") };
}

function cacheOf(parts: unknown): string {
  const name = createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
  return join(cacheFolder(), "images", name);
}

/** A session's own copy of an image's files. */
export interface ImageCopy {
  /** The folder with the files. */
  root: string;
  /** Makes folders of these names, in place of anything that programs left there. */
  prepare(names: readonly string[]): Promise<void>;
  changes(): Promise<Changes>;
  remove(): Promise<void>;
}

/** Copies an image's files. Sets the owner if this process is root's. */
export async function copyImage(image: UnpackedImage, owner: number | undefined): Promise<ImageCopy> {
  const { root, remove } = await copyFiles(image.root, owner);
  const made = (await stat(root)).ctimeMs;
  const copied = Math.max(made, Date.now());
  return {
    root,
    prepare: async (names) => {
      for (const name of names) await replaceByFolder(join(root, name), owner);
    },
    changes: async () => {
      const [before, now] = [await filesBelow(image.root), await filesBelow(root)];
      return {
        changed: [...now]
          .filter(([path, changed]) => changed > copied || !before.has(path))
          .map(([path]) => path),
        removed: [...before.keys()].filter((path) => !now.has(path)),
      };
    },
    remove,
  };
}

/** All files and folders, and when each was changed. */
async function filesBelow(root: string, below = ""): Promise<Map<string, number>> {
  const files = new Map<string, number>();
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const path = `${below}/${entry.name}`;
    files.set(path, (await lstat(join(root, path))).ctimeMs);
    if (entry.isDirectory())
      for (const [one, changed] of await filesBelow(root, path)) files.set(one, changed);
  }
  return files;
}
