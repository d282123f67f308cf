import loops from "@everturn/agent-loops";
import { trajectoryWorkflow } from "./trajectory.ts";

export { evaluation } from "./evaluation.ts";
export { shard } from "./shard.ts";
export { step } from "./step.ts";
export { training } from "./training.ts";

/** The trajectory workflow with the loops that this bundle was made for. */
export const trajectory = trajectoryWorkflow(loops);
