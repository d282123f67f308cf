import type { Command } from "commander";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { counted } from "../../../base/text/format.ts";
import { planLoops } from "../../../contracts/plan-loops.ts";
import { runEncryption } from "../../../control/encryption/run-encryption.ts";
import { withRunClient } from "../../../control/supervision/run-client.ts";
import { historiesOf, replayHistories } from "../../../control/temporal/replay.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { readRunFile } from "../../../run/folder/run-file.ts";
import { trajectoryReference } from "../../../run/folder/run-reference.ts";
import { findTrajectory } from "../../../run/trajectory/find-trajectory.ts";
import { errorLine, tellError } from "../terminal/tell-error.ts";

/** `everturn replay <trajectory>`: replays a trajectory's recorded histories with the current workflow code. */
export function registerReplay(program: Command): void {
  program
    .command("replay")
    .description(
      "replay a trajectory's history with the current workflow code to check that it is deterministic",
    )
    .argument("<trajectory>", "id of the trajectory (run/stage/task/sample), or any unique suffix of it")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--temporal <path>", "Temporal CLI that starts the dev server")
    .option("--json", "print one line of JSON", false)
    .action(replay);
}

async function replay(
  named: string,
  options: { runs: string; temporal?: string; json: boolean },
): Promise<void> {
  const { runs, trajectory } = trajectoryReference(named, options.runs);
  const { id, run } = await findTrajectory(runs, trajectory);
  const { plan } = await openRunFolder(runs, run);
  const encryption = await runEncryption(runs, await readRunFile(runs, run));
  const histories = await withRunClient({ runs, run, temporal: options.temporal }, (client) =>
    historiesOf(client, id),
  );
  const events = histories.reduce((total, history) => total + (history.events?.length ?? 0), 0);
  const size = { events, histories: histories.length };
  const result = await replayHistories(histories, id, planLoops(plan), encryption);
  const differs = result.deterministic
    ? undefined
    : new EverturnError("TRAJECTORY_NOT_DETERMINISTIC", { trajectory: id, reason: result.reason });
  if (options.json) {
    const line = { trajectory: id, ...size, ...result };
    const told = differs === undefined ? line : { ...line, ...errorLine(differs) };
    process.stdout.write(`${JSON.stringify(told)}\n`);
  }
  if (differs !== undefined) return tellError(differs);
  if (options.json) return;
  const of = histories.length > 1 ? ` of ${counted(histories.length, "history", "histories")}` : "";
  process.stdout.write(`${id}: ${events} events${of}, replayed with the current code: deterministic\n`);
}
