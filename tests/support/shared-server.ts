import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { startDevServer } from "../../src/temporal/dev-server.ts";
import { registerSearchAttributes } from "../../src/temporal/search-attributes.ts";
import { findServerBinary } from "../../src/temporal/server-binary.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** host:port of the Temporal server that test files share. */
    sharedServer: string;
  }
}

/** The namespace of what runs in a place of vitest's pool: files that run at once have each its own, whatever their runs are called. */
const namespaceOf = (place: string | number): string => `tests-${place}`;

/** The server that a test file joins, and its namespace there. */
export function sharedServer(): { address: string; namespace: string } {
  return { address: inject("sharedServer"), namespace: namespaceOf(process.env.VITEST_POOL_ID ?? 1) };
}

/** Starts a Temporal server that a project's test files join, in place of one for each of their runs. */
export default async function shareServer({ config, provide }: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-server-")); // it goes with all that tests leave
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  const server = await startDevServer({ binary: await findServerBinary(), ...paths });
  const { address } = server;
  const connection = await Connection.connect({ address });
  const names = Array.from({ length: Number(config.maxWorkers) }, (_, at) => namespaceOf(at + 1));
  await Promise.all(
    names.map(async (namespace) => {
      const workflowExecutionRetentionPeriod = msToTs("1 day");
      await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
      await registerSearchAttributes(connection, { address, namespace, isOwn: false });
    }),
  );
  await connection.close();
  provide("sharedServer", address);
  return server.stop;
}
