import type { Queues } from "../../contracts/trajectory.ts";

/** A worker role: the name of its queue. */
export type Role = keyof Queues;

/** All roles, in the order in which they are started. */
export const roles: readonly Role[] = ["orchestration", "policy", "tools", "trainer"];

/**
 * The queues of a run with a server of its own: one process orchestrates, generates and calls tools, so that an
 * activity begins where its workflow task ended, without a way through the server.
 */
export const sharedQueues: Queues = {
  orchestration: "rollout",
  policy: "rollout",
  tools: "rollout",
  trainer: "trainer",
};

/** A queue for each role: each has workers of its own, on machines of their own if need be. */
export const separateQueues: Queues = {
  orchestration: "orchestration",
  policy: "policy",
  tools: "tools",
  trainer: "trainer",
};

/** `queues` with `prefix` before each name, which keeps runs apart that share a server. */
export function prefixed(prefix: string, queues: Queues): Queues {
  const { orchestration, policy, tools, trainer } = queues;
  return {
    orchestration: prefix + orchestration,
    policy: prefix + policy,
    tools: prefix + tools,
    trainer: prefix + trainer,
  };
}

/** The roles whose queue is the one of `role`: a worker does all that comes on its queue. */
export function rolesBeside(role: Role, queues: Queues): Role[] {
  return roles.filter((other) => queues[other] === queues[role]);
}

/** One role for each queue. */
export function rolesToStart(queues: Queues): Role[] {
  return roles.filter((role) => rolesBeside(role, queues)[0] === role);
}
