import { hash } from "node:crypto";
import { copyFileSync, existsSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { cacheFolder } from "../../base/files/cache-folder.ts";
import { cachedFolder } from "../../base/files/cached-folder.ts";
import { linkOnce } from "../../base/files/link-once.ts";
import { temporaryName } from "../../base/files/temporary-name.ts";

/** The indexes of the list of workflows that Everturn's queries and the UI's first page use. */
const usedIndexes = ["default_idx", "by_status", "by_workflow_id", "by_workflow_type"];

/**
 * Creates the database of the dev server `binary` unless it exists. It lacks most indexes of the list of workflows: the
 * server creates 57, and each workflow that starts or ends changes them all. `initialize` starts the server on a new
 * database and stops it again, once per binary, because the user's cache keeps the result. If the cache can't be used,
 * there is no database afterward, and the server creates its own. Throws `initialize`'s errors.
 */
export async function createServerDatabase(
  database: string,
  binary: string,
  initialize: (database: string) => Promise<void>,
): Promise<void> {
  if (existsSync(database)) return;
  const temporary = temporaryName(database);
  try {
    const empty = await cachedFolder(folderOf(binary), async (folder) => {
      await initialize(join(folder, name));
      dropIndexes(join(folder, name));
    });
    copyFileSync(join(empty, name), temporary);
    linkOnce(temporary, database);
  } catch (error) {
    if (isEverturnError(error)) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

const name = "empty.db";

/** Where the cache keeps the database of a binary, which is another one if its file has changed. */
function folderOf(binary: string): string {
  const path = realpathSync(binary);
  const { size, mtimeMs } = statSync(path);
  const digest = hash("sha256", JSON.stringify([path, size, mtimeMs, usedIndexes]));
  return join(cacheFolder(), "temporal-databases", digest.slice(0, 32));
}

/** Drops unused indexes, and the cluster's id, so that each copy gets its own. */
function dropIndexes(path: string): void {
  const database = new DatabaseSync(path, { enableDoubleQuotedStringLiterals: true }); // the schema has them
  try {
    database.exec("PRAGMA journal_mode = DELETE; DELETE FROM cluster_metadata_info"); // a single file
    const indexes = database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql <> ''",
      )
      .all()
      .map((index) => String(index.name));
    for (const index of indexes) if (!usedIndexes.includes(index)) database.exec(`DROP INDEX "${index}"`);
  } finally {
    database.close();
  }
}
