import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { workflowBundle } from "../../src/control/temporal/workflow-bundle.ts";

/** A Temporal server with a worker of Everturn's workflows. */
export interface WorkflowWorker {
  client: Client;
  /** The server's. */
  address: string;
  stop(): Promise<void>;
}

/** Starts a server in `folder` and a worker on `queue` that answers with `activities`; `loop` is a workflow module. */
export async function startWorkflows(options: {
  folder: string;
  queue: string;
  loop: { name: string; workflow: string };
  activities: NonNullable<WorkerOptions["activities"]>;
  onWorker?: (worker: Worker) => void;
}): Promise<WorkflowWorker> {
  const { folder, queue, loop, activities } = options;
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  const [server, code] = await Promise.all([
    startDevServer({ binary: await findServerBinary(), ...paths }),
    workflowBundle([loop], false),
  ]);
  const { address } = server;
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection: native,
    taskQueue: queue,
    activities,
    workflowBundle: { code },
  });
  options.onWorker?.(worker);
  const ended = worker.run();
  return {
    client: new Client({ connection }),
    address,
    stop: async () => {
      worker.shutdown();
      await ended;
      await native.close();
      await connection.close();
      await server.stop();
    },
  };
}
