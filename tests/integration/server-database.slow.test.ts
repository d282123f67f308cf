import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Starts a server on a new database and stops it. Returns its cluster and the indexes of its list of workflows. */
async function started(binary: string) {
  const folder = temporaryFolder();
  const database = join(folder, "temporal.db");
  const server = await startDevServer({ binary, database, log: join(folder, "log") });
  await server.stop();
  const opened = new DatabaseSync(database, { enableDoubleQuotedStringLiterals: true });
  const indexes = opened
    .prepare(
      "SELECT name FROM sqlite_schema WHERE tbl_name = 'executions_visibility' AND type = 'index' AND sql <> ''",
    )
    .all();
  opened.close();
  return { cluster: server.cluster, indexes: indexes.map(({ name }) => String(name)).toSorted() };
}

test("a server begins with few indexes and a cluster of its own; without a cache it creates its own database", async () => {
  const binary = await findServerBinary();
  vi.stubEnv("XDG_CACHE_HOME", temporaryFolder());
  const servers = [await started(binary), await started(binary)];
  const few = ["by_status", "by_workflow_id", "by_workflow_type", "default_idx"];
  expect(servers).toMatchObject([{ indexes: few }, { indexes: few }]);
  expect(new Set(servers.map(({ cluster }) => cluster)).size).toBe(2);

  vi.stubEnv("XDG_CACHE_HOME", binary); // not a folder
  expect((await started(binary)).indexes.length).toBeGreaterThan(few.length);
});
