import type { Priority } from "@temporalio/common";
import { defined } from "../../base/records/defined.ts";
import type { RunFile } from "../../contracts/run.ts";

/** The longest fairness key that a server takes, in bytes. */
const longest = 64;

/**
 * How a server orders a run's tasks on queues that it shares with other runs. Activities and child workflows inherit
 * it. A server with fairness takes turns between runs; others hand out tasks in the order in which they arrive.
 */
export function runPriority({ run, priority }: Pick<RunFile, "run" | "priority">): Priority {
  return defined({ fairnessKey: run.slice(-longest), priorityKey: priority });
}
