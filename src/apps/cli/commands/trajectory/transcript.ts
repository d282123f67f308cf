import type { Command } from "commander";
import { askTranscript } from "../../../../control/temporal/live-trajectories.ts";
import { paintFor } from "../../views/spans.ts";
import { transcriptText } from "../../views/transcript-text.ts";
import { type LiveOptions, liveCommand, withLiveTrajectory } from "../live-trajectory.ts";

/** `everturn trajectory transcript <trajectory>`: shows a live trajectory's state and its conversation so far. */
export function registerTranscript(parent: Command): void {
  liveCommand(
    parent,
    "transcript",
    "print the conversation of a live trajectory so far, and what it is waiting for",
  ).action(async (trajectory: string, { runs, json }: LiveOptions) => {
    const answer = await withLiveTrajectory(runs, trajectory, async (client, id) => ({
      trajectory: id,
      ...(await askTranscript(client, id)),
    }));
    process.stdout.write(
      json ? `${JSON.stringify(answer)}\n` : transcriptText(answer, paintFor(process.stdout)),
    );
  });
}
