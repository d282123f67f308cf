import type { Command } from "commander";
import { type LiveOptions, liveCommand, order } from "../live-trajectory.ts";

/** `everturn trajectory resume <trajectory>`: continues a paused one. */
export function registerResumeTrajectory(parent: Command): void {
  liveCommand(parent, "resume", "resume a paused trajectory").action(
    (trajectory: string, options: LiveOptions) => order(trajectory, options, "resume"),
  );
}
