import { rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../../base/files/cache-folder.ts";
import { namesInSync } from "../../../base/files/names-in.ts";
import { newAttempt, writerOf } from "../../../base/files/temporary-name.ts";
import type { Backend } from "../backend.ts";
import { localCopies } from "../local-copies.ts";
import { abortLeftUploads } from "./multipart.ts";
import { s3Objects } from "./objects.ts";
import type { S3Place } from "./place.ts";

/** Bytes of the local copies of trees that each process keeps, besides those in use. */
const copiesLimit = 8 * 2 ** 30;

/** The objects of a place as a store's backend. Trees have local copies in the user's cache. It sends no request. */
export function s3Backend(place: S3Place): Backend {
  const { upload, download, remove, ...objects } = s3Objects(place);
  return {
    ...objects,
    ...localCopies({ upload, download, remove }, { cache: copiesFolder(), limit: copiesLimit }),
    remove,
    sweep: () => abortLeftUploads(place),
  };
}

let copies: string | undefined;

/** The folder of this process's local copies. The first call removes those of processes that have ended. */
function copiesFolder(): string {
  if (copies !== undefined) return copies;
  const all = join(cacheFolder(), "copies");
  for (const name of namesInSync(all))
    if (writerOf(`.${name}.tmp`)?.isRunning === false)
      rmSync(join(all, name), { recursive: true, force: true });
  const own = join(all, newAttempt());
  process.on("exit", () => rmSync(own, { recursive: true, force: true }));
  copies = own;
  return own;
}
