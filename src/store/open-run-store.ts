import { join } from "node:path";
import { tellNotice } from "../processes/notice.ts";
import { folderBackend } from "./folder-backend.ts";
import { openStore } from "./open-store.ts";
import type { Store } from "./store.ts";

/** The store of the run in `folder`. What can't be read is told as a notice: it counts as absent, and is made again. */
export function openRunStore(folder: string): Store {
  return openStore(folderBackend(folder), (path, reason) => {
    const notice = `${join(folder, path)} can't be read: ${reason}; it counts as absent`;
    tellNotice({ code: "RECORD_CORRUPT", notice });
  });
}
