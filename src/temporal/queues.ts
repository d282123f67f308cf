import type { Queues } from "../contracts/trajectory.ts";

/** The task queues of a run; `prefix` keeps runs apart that share a server. */
export function queuesWith(prefix: string): Queues {
  return {
    orchestration: `${prefix}orchestration`,
    policy: `${prefix}policy`,
    tools: `${prefix}tools`,
    trainer: `${prefix}trainer`,
  };
}
