import type { Command } from "commander";
import { registerAnswer } from "./trajectory/answer.ts";
import { registerApprove } from "./trajectory/approve.ts";
import { registerCancel } from "./trajectory/cancel.ts";
import { registerDeny } from "./trajectory/deny.ts";
import { registerPause } from "./trajectory/pause.ts";
import { registerResumeTrajectory } from "./trajectory/resume.ts";
import { registerSay } from "./trajectory/say.ts";
import { registerTranscript } from "./trajectory/transcript.ts";

/** `everturn trajectory …`: gives orders to a live trajectory. */
export function registerTrajectory(program: Command): void {
  const parent = program
    .command("trajectory")
    .description("watch and control a live trajectory: pause, approve, say, cancel …");
  for (const register of [
    registerTranscript,
    registerPause,
    registerResumeTrajectory,
    registerApprove,
    registerAnswer,
    registerDeny,
    registerSay,
    registerCancel,
  ]) {
    register(parent);
  }
}
