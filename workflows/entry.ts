import loops from "@everturn/agent-loops";
import { trajectoryWorkflow } from "./trajectory.ts";

export { evaluation } from "./evaluation.ts";
export { shard } from "./shard.ts";
export { step } from "./step.ts";
export { training } from "./training.ts";

/** The trajectory workflow with this bundle's loops. */
export const trajectory = trajectoryWorkflow(loops);
