import type { ToolActivities } from "../src/contracts/activities.ts";
import type { ToolWorker } from "../src/roles/tool-worker.ts";

/** Releases a finished trajectory's tool instances, each once. */
export function releaseTools(worker: ToolWorker): ToolActivities["release-tools"] {
  return async ({ place, tools }) => {
    for (const name of tools) await worker.instances.release(place, await worker.tool(name));
  };
}
