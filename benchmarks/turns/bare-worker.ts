// A worker of bare workflows, in a process of its own: node bare-worker.ts ADDRESS QUEUE
import { fileURLToPath } from "node:url";
import { Context } from "@temporalio/activity";
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
} from "@temporalio/worker";
import { limitExternalMemoryWithHeap } from "../../src/base/processes/external-memory.ts";

/** Activities that do nothing, and one that starts workflows with their first task and waits for them. */
export interface BareActivities {
  generate(text: string): Promise<string>;
  call(text: string): Promise<string>;
  score(text: string): Promise<number>;
  runAll(trajectories: number, turns: number): Promise<void>;
}

limitExternalMemoryWithHeap(); // as Everturn's workers do
const [address = "", taskQueue = ""] = process.argv.slice(2);
const activities: BareActivities = {
  generate: async () => "an action of a few words",
  call: async () => "an observation",
  score: async () => 1,
  runAll: async (trajectories, turns) => {
    const { client, info } = Context.current();
    const one = async (number: number) =>
      client.workflow.execute("bareTrajectory", {
        workflowId: `${info.workflowExecution?.workflowId}/${number}`,
        taskQueue,
        args: [turns],
        requestEagerStart: true,
      });
    await Promise.all(Array.from({ length: trajectories }, (_, number) => one(number)));
  },
};
Runtime.install({
  logger: new DefaultLogger("ERROR"),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: "ERROR" }) } },
});
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue,
  activities,
  workflowsPath: fileURLToPath(new URL("bare-workflows.ts", import.meta.url)),
  // As Everturn's own worker.
  maxConcurrentWorkflowTaskExecutions: 1000,
  maxConcurrentWorkflowTaskPolls: 50,
  maxConcurrentLocalActivityExecutions: 1000,
});
process.once("disconnect", () => worker.shutdown());
process.send?.("ready");
await worker.run();
await connection.close();
