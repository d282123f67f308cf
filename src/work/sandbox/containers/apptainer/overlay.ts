import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { filesFolder, ownedBy, replaceByFolder } from "../image/files-folder.ts";
import type { Changes } from "../running-container.ts";

/** The changes that a session's programs make to an image's files, as a folder for `--overlay`. */
export interface Overlay {
  path: string;
  /** Makes a folder of the image's root, in place of anything that programs left there. */
  prepare(name: string): Promise<void>;
  changes(): Promise<Changes>;
  remove(): Promise<void>;
}

/** Makes an overlay without changes, for the programs of a user. */
export async function makeOverlay(owner: number | undefined): Promise<Overlay> {
  const place = await filesFolder();
  const path = join(place.path, "overlay");
  const upper = join(path, "upper");
  await mkdir(upper, { recursive: true });
  await mkdir(join(path, "work"));
  await ownedBy(path, owner);
  return {
    path,
    prepare: (name) => replaceByFolder(join(upper, name), owner),
    changes: async () => {
      const changes: Changes = { changed: [], removed: [] };
      await collect(upper, "", changes);
      return changes;
    },
    remove: place.remove,
  };
}

/** An overlay has a character device 0/0 in place of each path that was removed. */
async function collect(upper: string, below: string, changes: Changes): Promise<void> {
  for (const entry of await readdir(join(upper, below), { withFileTypes: true })) {
    const path = `${below}/${entry.name}`;
    if (entry.isCharacterDevice() && (await stat(join(upper, path))).rdev === 0) {
      changes.removed.push(path);
      continue;
    }
    changes.changed.push(path);
    if (entry.isDirectory()) await collect(upper, path, changes);
  }
}
