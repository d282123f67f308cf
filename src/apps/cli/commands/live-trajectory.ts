import type { Client } from "@temporalio/client";
import type { Command } from "commander";
import { EverturnError, isEverturnError } from "../../../base/errors/everturn-error.ts";
import { foldersIn } from "../../../base/files/names-in.ts";
import type { LiveStatus, OrderName } from "../../../contracts/orders.ts";
import { withLiveRun } from "../../../control/supervision/run-client.ts";
import { heldRunAddress, noServer } from "../../../control/supervision/run-holder.ts";
import { giveOrder, liveTrajectories } from "../../../control/temporal/live-trajectories.ts";
import { readRunFile } from "../../../run/folder/run-file.ts";
import { runFolder } from "../../../run/folder/run-folder.ts";
import { type RunReference, trajectoryReference } from "../../../run/folder/run-reference.ts";
import { openRunStore } from "../../../run/store/open-run-store.ts";
import { findTrajectory } from "../../../run/trajectory/find-trajectory.ts";
import { trajectoryReader } from "../../../run/trajectory/reader.ts";
import { readTrajectoryRecord } from "../../../run/trajectory/trajectory-files.ts";
import { statusText } from "../views/trajectory-status.ts";

/** The options of each command about a live trajectory. */
export interface LiveOptions {
  runs: string;
  json: boolean;
}

/** Adds a command with the argument and the options that all commands about a live trajectory take. */
export function liveCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .argument("<trajectory>", "id of the trajectory (run/stage/task/sample), or any unique suffix of it")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print one line of JSON", false);
}

/** Gives a live trajectory an order after `check` accepts it, and prints its new state. */
export async function order(
  trajectory: string,
  { runs, json }: LiveOptions,
  name: OrderName,
  given: object = {},
  check: (client: Client, id: string, run: RunReference) => Promise<void> = async () => {},
): Promise<void> {
  const { id, status } = await withLiveTrajectory(runs, trajectory, async (client, liveId, run) => {
    await check(client, liveId, run);
    const answer: LiveStatus = await giveOrder(client, liveId, name, given);
    return { id: liveId, status: answer };
  });
  process.stdout.write(
    json ? `${JSON.stringify({ trajectory: id, ...status })}\n` : `${id}: ${statusText(status)}\n`,
  );
}

/**
 * Runs `work` with the live trajectory that `named` identifies. Throws TRAJECTORY_NOT_FOUND, TRAJECTORY_AMBIGUOUS,
 * TRAJECTORY_NOT_LIVE and RUN_HAS_NO_SERVER.
 */
export async function withLiveTrajectory<Result>(
  folder: string,
  named: string,
  work: (client: Client, id: string, run: RunReference) => Promise<Result>,
): Promise<Result> {
  const { runs, trajectory: wanted } = trajectoryReference(named, folder);
  const asked = wanted.replace(/^\/+|\/+$/g, "");
  const live = await matches(runs, asked);
  const [match] = live;
  if (match === undefined) throw await notLive(runs, wanted);
  if (live.length > 1) {
    const shown = live.slice(0, 5).map(({ id }) => id);
    const list = [...shown, ...(live.length > 5 ? [`and ${live.length - 5} more`] : [])].join(", ");
    throw new EverturnError("TRAJECTORY_AMBIGUOUS", {
      trajectory: wanted,
      count: live.length,
      matches: list,
    });
  }
  try {
    return await withLiveRun({ runs, run: match.run }, (client) =>
      work(client, match.id, { runs, run: match.run }),
    );
  } catch (error) {
    throw isEverturnError(error) && error.code === "TRAJECTORY_NOT_LIVE"
      ? await notLive(runs, wanted)
      : error;
  }
}

async function matches(runs: string, asked: string): Promise<{ run: string; id: string }[]> {
  const up = await runsUp(runs, asked);
  const [first] = up;
  if (isWholeId(asked) && first === asked.split("/")[0] && first !== undefined)
    return [{ run: first, id: asked }];
  const isMatch = (id: string) => id === asked || id.endsWith(`/${asked}`);
  const found = up.map((run) =>
    withLiveRun({ runs, run }, async (client) => {
      const ids = await liveTrajectories(client, run);
      return ids.filter(isMatch).map((id) => ({ run, id }));
    }),
  );
  return (await Promise.all(found)).flat();
}

/** The runs whose server may be up; only one if a whole id is given. */
async function runsUp(runs: string, asked: string): Promise<string[]> {
  const names = await foldersIn(runs);
  const named = isWholeId(asked) ? names.filter((name) => name === asked.split("/")[0]) : [];
  const possible = named.length > 0 ? named : names;
  const up = await Promise.all(
    possible.map(async (run) => {
      const file = await readRunFile(runs, run).catch(() => undefined); // a folder that is not a run's
      return (
        file !== undefined && (file.address ?? (await heldRunAddress(runFolder(runs, run)))) !== undefined
      );
    }),
  );
  return possible.filter((_, index) => up[index]);
}

/** Why the trajectory takes no orders. Throws TRAJECTORY_NOT_FOUND if it does not exist. */
async function notLive(runs: string, wanted: string): Promise<EverturnError> {
  const found = await findTrajectory(runs, wanted);
  const folder = runFolder(runs, found.run);
  const record = await readTrajectoryRecord(trajectoryReader({ store: openRunStore(folder.root) }), found);
  const isUp = (await runsUp(runs, found.id)).includes(found.run);
  if (record === undefined && !isUp) return noServer(found.run, folder);
  const reason =
    record === undefined
      ? "it has no running workflow"
      : `it has ended (${record.outcome}, reward ${record.reward})`;
  return new EverturnError("TRAJECTORY_NOT_LIVE", { trajectory: found.id, reason });
}

function isWholeId(asked: string): boolean {
  return asked.split("/").length === 4;
}
