import { NativeConnection, Worker } from "@temporalio/worker";
import { callTool } from "../../activities/call-tool.ts";
import { releaseTools } from "../../activities/release-tools.ts";
import { isEverturnError } from "../../src/base/errors/everturn-error.ts";
import { durable } from "../../src/control/temporal/durable.ts";
import { toolWorker } from "../../src/work/workers/tool-worker.ts";
import { callMemory } from "./memory-run.ts";
import type { Asked } from "./tool-holder.ts";

/** A tools worker of a memory run in a process of its own, which does what it is sent: `<runs> <run>`. */
const [runs = "", run = ""] = process.argv.slice(2);
const worker = toolWorker(runs, run);
let common: { worker: Worker; running: Promise<void> } | undefined;

async function answer(asked: Asked): Promise<unknown> {
  switch (asked.what) {
    case "queue":
      return worker.ownQueue();
    case "call":
      return callMemory(worker, [runs, run], asked.call);
    case "renew":
      return worker.instances.renew();
    case "serve":
      return serve(asked.address);
    case "leave":
      common?.worker.shutdown();
      return common?.running;
  }
}

/** Works on the queue `tools` and on its own one, with one slot on each. */
async function serve(address: string): Promise<void> {
  const connection = await NativeConnection.connect({ address });
  const activities = {
    replay: durable(callTool(worker, "replay")),
    "release-tools": durable(releaseTools(worker)),
  };
  const [shared, own] = await Promise.all(
    ["tools", await worker.ownQueue()].map((taskQueue) =>
      Worker.create({ connection, taskQueue, activities, maxConcurrentActivityTaskExecutions: 1 }),
    ),
  );
  void own?.run();
  common = shared && { worker: shared, running: shared.run() };
}

process.on("message", async (asked: Asked) => {
  try {
    process.send?.({ answer: await answer(asked) });
  } catch (error) {
    const code = isEverturnError(error) ? error.code : undefined;
    process.send?.({ failure: { message: String(error), code } });
  }
});
process.on("disconnect", () => process.exit());
