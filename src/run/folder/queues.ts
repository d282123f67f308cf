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

/** The roles whose workers may serve several runs: they hold models and devices, and no code or state of a user. */
export const pooledRoles = ["policy", "trainer"] as const satisfies Role[];

/** The queue of a pool's workers of a role. No queue of a run has such a name. */
export function poolQueue(pool: string, role: (typeof pooledRoles)[number]): string {
  return `pool:${pool}/${role}`;
}

/** The queues of a run that a pool generates and trains for. */
export function pooled(own: Queues, pool: string): Queues {
  return { ...own, policy: poolQueue(pool, "policy"), trainer: poolQueue(pool, "trainer") };
}

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

/** One role for each queue. `pool`: serves its own roles. */
export function rolesToStart(queues: Queues, pool?: string): Role[] {
  const served: readonly Role[] = pool === undefined ? [] : pooledRoles;
  return roles.filter((role) => rolesBeside(role, queues)[0] === role && !served.includes(role));
}
