import { rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../../base/files/cache-folder.ts";
import { namesInSync } from "../../../base/files/names-in.ts";
import { newAttempt, writerOf } from "../../../base/files/temporary-name.ts";
import { type Backend, FileBroken } from "../backend.ts";
import { localCopies } from "../local-copies.ts";
import { abortLeftUploads } from "./multipart.ts";
import { s3Objects } from "./objects.ts";
import { type S3Place, s3Address } from "./place.ts";

/** Bytes of the local copies of trees that each process keeps, besides those in use. */
const copiesLimit = 8 * 2 ** 30;

/** The objects of a place as a store's backend. Trees have local copies in the user's cache. It sends no request. */
export function s3Backend(place: S3Place): Backend {
  const { upload, download, remove, ...objects } = s3Objects(place);
  const copies = localCopies({ upload, download, remove }, { cache: copiesFolder(), limit: copiesLimit });
  return {
    ...objects,
    ...copies,
    inFolder: async (prefix, files, work, { isUnread = false } = {}) => {
      if (!isUnread) return copies.inFolder(prefix, files, work);
      for (const [name, { size }] of Object.entries(files)) {
        const found = await objects.size(`${prefix}${name}`);
        if (found !== size) throw new FileBroken(`${prefix}${name} has ${found ?? "no"} bytes, not ${size}`);
      }
      return work(`${s3Address(place)}/${prefix}`.replace(/\/$/, ""));
    },
    remove,
    sweep: () => abortLeftUploads(place),
  };
}

let ownFolder: string | undefined;

/** The folder of this process's local copies. The first call removes those of processes that have ended. */
function copiesFolder(): string {
  if (ownFolder !== undefined) return ownFolder;
  const all = join(cacheFolder(), "copies");
  for (const name of namesInSync(all))
    if (writerOf(`.${name}.tmp`)?.isRunning === false)
      rmSync(join(all, name), { recursive: true, force: true });
  const own = join(all, newAttempt());
  process.on("exit", () => rmSync(own, { recursive: true, force: true }));
  ownFolder = own;
  return own;
}
