import type { ToolActivities } from "../src/contracts/activities.ts";
import type { ToolWorker } from "../src/work/workers/tool-worker.ts";

/**
 * Releases the tool instances of a finished trajectory, each once. Returns the queues of other workers that
 * hold some of them.
 */
export function releaseTools(worker: ToolWorker): ToolActivities["release-tools"] {
  return async ({ place, tools }) => {
    const elsewhere: Record<string, string> = {};
    for (const name of tools) {
      const tool = await worker.tool(name);
      await worker.instances.release(place, tool);
      const heldBy = await worker.instances.heldBy(place, tool);
      if (heldBy !== undefined) elsewhere[name] = heldBy;
    }
    return Object.keys(elsewhere).length === 0 ? undefined : elsewhere;
  };
}
