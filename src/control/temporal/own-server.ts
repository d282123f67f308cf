import { dirname } from "node:path";
import { makeFolder } from "../../base/files/make-folder.ts";
import { requireMarkToWrite } from "../../base/files/marked-folder.ts";
import { patiently } from "../../base/files/patiently.ts";
import { persistently } from "../../base/files/persistently.ts";
import type { ProcessIdentity } from "../../base/processes/process-identity.ts";
import { defined } from "../../base/records/defined.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";
import { type DevServer, startDevServer } from "./dev-server.ts";
import { findServerBinary } from "./server-binary.ts";

/**
 * Starts a run's own dev server on the run's database. `temporal` is the CLI's path if the user named one. `before`
 * is the server that ended: the new one takes its ports, which workers and clients know. Throws
 * TEMPORAL_SERVER_FAILED, TEMPORAL_BINARY_NOT_FOUND, TEMPORAL_BINARY_MISSING and NO_FREE_PORT.
 */
export async function startOwnServer(
  folder: RunFolder,
  temporal: string | undefined,
  options: {
    before?: DevServer | undefined;
    stopping?: AbortSignal;
    onSpawn: (server: ProcessIdentity) => Promise<void>;
  },
): Promise<DevServer> {
  const { before, stopping, onSpawn } = options;
  const log = folder.log("temporal");
  await patiently(async () => requireMarkToWrite(log)); // otherwise it would create another database
  await persistently(() => makeFolder(dirname(log)));
  return startDevServer(
    defined({
      binary: await findServerBinary(temporal),
      database: folder.database,
      log,
      onSpawn,
      stopping,
      ports: before?.ports,
    }),
  );
}
