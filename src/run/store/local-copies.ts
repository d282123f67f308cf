import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Backend, FileBroken } from "./backend.ts";
import { digestOf, type Files, filesIn } from "./tree.ts";

/** File operations of a backend without folders. */
export interface FileObjects {
  /** Uploads a local file to `path`, where another try may already have put the same content. */
  upload(path: string, file: string): Promise<void>;
  /** Downloads the object to a local file. Returns false if there is none. */
  download(path: string, file: string): Promise<boolean>;
  remove(path: string): Promise<void>;
}

/** A local copy of the files below a prefix. */
interface Copy {
  bytes: number;
  users: number;
  /** Its folder, once all files are present. */
  folder: Promise<string>;
}

/**
 * Trees for a backend without folders. Written files go to a local folder first and are then uploaded. Read files
 * are downloaded, checked, and kept in `cache`, a folder of this process only, up to `limit` bytes in total. The
 * least recently used ones are evicted first, but never those in use.
 */
export function localCopies(
  objects: FileObjects,
  { cache, limit }: { cache: string; limit: number },
): Pick<Backend, "fill" | "inFolder"> {
  /** By recency of use, the latest last. */
  const copies = new Map<string, Copy>();

  async function newFolder(): Promise<string> {
    await mkdir(cache, { recursive: true });
    return mkdtemp(join(cache, "copy-"));
  }

  function copyOf(prefix: string, files: Files): Copy {
    const bytes = Object.values(files).reduce((total, { size }) => total + size, 0);
    const copy = copies.get(prefix) ?? { bytes, users: 0, folder: download(prefix, files) };
    copies.delete(prefix);
    copies.set(prefix, copy);
    copy.folder.catch(() => forget(prefix, copy)); // the next caller tries again
    return copy;
  }

  function forget(prefix: string, copy: Copy): void {
    if (copies.get(prefix) === copy) copies.delete(prefix);
  }

  async function download(prefix: string, files: Files): Promise<string> {
    const folder = await newFolder();
    try {
      for (const [name, file] of Object.entries(files))
        await fetched(`${prefix}${name}`, join(folder, name), file);
      return folder;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Downloads a file. It downloads one that seems broken twice, because the verdict is final. */
  async function fetched(path: string, file: string, { size, sha256 }: Files[string]): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    for (let tries = 0; tries < 2; tries++) {
      if (!(await objects.download(path, file))) throw new FileBroken(`${path} is gone`);
      const found = await digestOf(file);
      if (found.size === size && found.sha256 === sha256) return;
    }
    throw new FileBroken(`${path} is not what its tree's record says`);
  }

  async function makeRoom(): Promise<void> {
    let held = [...copies.values()].reduce((total, { bytes }) => total + bytes, 0);
    for (const [prefix, copy] of copies) {
      if (held <= limit) return;
      if (copy.users > 0) continue;
      forget(prefix, copy);
      held -= copy.bytes;
      await rm(await copy.folder, { recursive: true, force: true });
    }
  }

  return {
    fill: async (prefix, write) => {
      const folder = await newFolder();
      const uploaded: string[] = [];
      try {
        await write(folder);
        const files = await filesIn(folder);
        for (const name of Object.keys(files)) {
          uploaded.push(`${prefix}${name}`);
          await objects.upload(`${prefix}${name}`, join(folder, name));
        }
        return files;
      } catch (error) {
        for (const path of uploaded) await objects.remove(path).catch(() => {}); // a later sweep removes it otherwise
        throw error;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    inFolder: async (prefix, files, work) => {
      const copy = copyOf(prefix, files);
      copy.users++;
      try {
        return await work(await copy.folder);
      } finally {
        copy.users--;
        await makeRoom();
      }
    },
  };
}
