import type { PolicyActivities, RunActivities, ToolActivities, TrainerActivities } from "./activities.ts";
import type { Queues } from "./trajectory.ts";

/** Everturn's own activities. There is also one for each tool, named after it. */
export type Activities = PolicyActivities & ToolActivities & TrainerActivities & RunActivities;

/** The role whose workers run each activity. */
export const activityRoles: Record<keyof Activities, keyof Queues> = {
  "initialize-policy": "policy",
  "generate-turn": "policy",
  "frame-message": "policy",
  "publish-policy": "policy",
  "score-trajectory": "tools",
  "score-group": "tools",
  "release-tools": "tools",
  "run-agent": "tools",
  "continue-agent": "tools",
  "end-agent": "tools",
  "warm-start": "trainer",
  "train-step": "trainer",
  "join-step": "trainer",
  "train-examples": "trainer",
  "open-run": "orchestration",
  "end-shards": "orchestration",
  "read-ended": "orchestration",
  "draw-tasks": "orchestration",
  "reserve-groups": "orchestration",
  "run-trajectories": "orchestration",
  "load-task": "orchestration",
  "record-left-out": "orchestration",
  "record-step": "orchestration",
  "record-evaluation": "orchestration",
};
