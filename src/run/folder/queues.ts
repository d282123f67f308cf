import type { Queues } from "../../contracts/trajectory.ts";

/** A worker role, which is the name of its queue. */
export type Role = keyof Queues;

/** All roles, in the order in which they start. */
export const roles: readonly Role[] = ["orchestration", "policy", "tools", "trainer"];

/**
 * The queues of a run with its own server. One process orchestrates, generates and calls tools, so an activity
 * begins where its workflow task ended, without a trip through the server.
 */
export const sharedQueues: Queues = {
  orchestration: "rollout",
  policy: "rollout",
  tools: "rollout",
  trainer: "trainer",
};

/** One queue per role. Each has workers of its own, which may be on separate machines. */
export const separateQueues: Queues = {
  orchestration: "orchestration",
  policy: "policy",
  tools: "tools",
  trainer: "trainer",
};

/** Adds `prefix` to each queue's name, to keep runs on one server apart. */
export function prefixed(prefix: string, queues: Queues): Queues {
  const { orchestration, policy, tools, trainer } = queues;
  return {
    orchestration: prefix + orchestration,
    policy: prefix + policy,
    tools: prefix + tools,
    trainer: prefix + trainer,
  };
}

/** The roles that share the queue of `role`. A worker does all work on its queue. */
export function rolesBeside(role: Role, queues: Queues): Role[] {
  return roles.filter((other) => queues[other] === queues[role]);
}

/** One role for each queue. */
export function rolesToStart(queues: Queues): Role[] {
  return roles.filter((role) => rolesBeside(role, queues)[0] === role);
}
