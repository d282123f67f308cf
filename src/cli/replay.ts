import { resolve } from "node:path";
import type { Command } from "commander";
import { EverturnError } from "../errors/everturn-error.ts";
import { findTrajectory } from "../report/find-trajectory.ts";
import { counted } from "../report/format.ts";
import { openRun } from "../runs/open-runs.ts";
import { historiesOf, replayHistories } from "../temporal/replay.ts";
import { withRunClient } from "../temporal/run-client.ts";

/** `everturn replay <trajectory>`: today's workflow code over a trajectory's recorded history, all parts of it. */
export function registerReplay(program: Command): void {
  program
    .command("replay")
    .description("run today's workflow code over a trajectory's history: is it still deterministic?")
    .argument("<trajectory>", "its id, run/stage/task/sample, or an end of it that only one has")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--temporal <path>", "Temporal CLI to start the dev server with")
    .option("--json", "print one line of JSON", false)
    .action(replay);
}

async function replay(
  trajectory: string,
  options: { runs: string; temporal?: string; json: boolean },
): Promise<void> {
  const runs = resolve(options.runs);
  const { id, run } = await findTrajectory(runs, trajectory);
  const { plan } = await openRun(runs, run);
  const histories = await withRunClient({ runs, run, temporal: options.temporal }, (client) =>
    historiesOf(client, id),
  );
  const events = histories.reduce((total, history) => total + (history.events?.length ?? 0), 0);
  const size = { events, histories: histories.length };
  const result = await replayHistories(histories, id, plan.loop);
  if (options.json) process.stdout.write(`${JSON.stringify({ trajectory: id, ...size, ...result })}\n`);
  if (!result.deterministic) {
    throw new EverturnError("TRAJECTORY_NOT_DETERMINISTIC", { trajectory: id, reason: result.reason });
  }
  if (options.json) return;
  const of = histories.length > 1 ? ` of ${counted(histories.length, "history", "histories")}` : "";
  process.stdout.write(`${id}: ${events} events${of}, replayed on today's code: deterministic\n`);
}
