import { join } from "node:path";
import { type Notice, tellNotice } from "../../base/processes/notice.ts";
import type { RunFile } from "../../contracts/run.ts";
import type { Backend } from "./backend.ts";
import { folderBackend } from "./folder-backend.ts";
import { runFileKey } from "./keys.ts";
import { lazyBackend, namedBackend } from "./named-backend.ts";
import { openStore } from "./open-store.ts";
import type { Store } from "./store.ts";

/**
 * The store of the run in `folder`: the one in its `run.json`, else the folder itself. An unreadable record is
 * reported as a notice (by default on standard error), counts as absent, and is created again. The store's methods
 * throw STORE_UNUSABLE.
 */
export function openRunStore(folder: string, tell: (notice: Notice) => void = tellNotice): Store {
  const find = async () => {
    const file = await openFolderStore(folder, tell).read(runFileKey);
    return backendOf(folder, file);
  };
  return tellingStore(folder, lazyBackend(find), tell);
}

/** The same for a caller that knows the contents of `run.json`. */
export function openStoreOf(folder: string, file: Pick<RunFile, "run" | "store">): Store {
  return tellingStore(
    folder,
    lazyBackend(async () => backendOf(folder, file)),
    tellNotice,
  );
}

/** The folder of a run as a store. `run.json` is there too, wherever the other records are. */
export function openFolderStore(folder: string, tell: (notice: Notice) => void = tellNotice): Store {
  return tellingStore(folder, folderBackend(folder), tell);
}

function backendOf(
  folder: string,
  file: Pick<RunFile, "run" | "store"> | undefined,
): Backend | Promise<Backend> {
  return file?.store === undefined ? folderBackend(folder) : namedBackend(file.store, file.run);
}

function tellingStore(folder: string, backend: Backend, tell: (notice: Notice) => void): Store {
  return openStore(backend, (path, reason) => {
    const notice = `${join(folder, path)} can't be read: ${reason}; it counts as absent`;
    tell({ code: "RECORD_CORRUPT", notice });
  });
}
