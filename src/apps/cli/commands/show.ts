import type { Command } from "commander";
import type { ToolDefinition } from "../../../contracts/message.ts";
import { readTrajectory } from "../../../results/report/read-trajectory.ts";
import { tokenTexts } from "../../../results/report/token-texts.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { trajectoryReference } from "../../../run/folder/run-reference.ts";
import { tokenRows } from "../../../run/projections/token-rows.ts";
import type { TrajectoryName } from "../../../run/store/keys.ts";
import { findTrajectory } from "../../../run/trajectory/find-trajectory.ts";
import { type RecordReader, trajectoryReader } from "../../../run/trajectory/reader.ts";
import { recordedTurns } from "../../../run/trajectory/segments.ts";
import { paintFor } from "../views/spans.ts";
import { trajectoryText } from "../views/trajectory-text.ts";
import { withWholeObservations, writeMedia } from "./trajectory-bytes.ts";

interface Options {
  runs: string;
  tokens: boolean;
  whole: boolean;
  media?: string;
  tools: boolean;
  json: boolean;
}

/** `everturn show <trajectory>`: shows a trajectory turn by turn, finished or in progress. */
export function registerShow(program: Command): void {
  program
    .command("show")
    .description("print a trajectory turn by turn")
    .argument("<trajectory>", "id of the trajectory (run/stage/task/sample), or any unique suffix of it")
    .option("--tokens", "also print every token with its id, text, mask and log-probability", false)
    .option("--whole", "print observations in full where the model saw them truncated", false)
    .option("--media <folder>", "write the images of its observations to this folder")
    .option(
      "--tools",
      "print only the tools that its agent sent, as one line of JSON for the `tools` of demonstrations",
      false,
    )
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--json", "print everything recorded, including segments, as one line of JSON", false)
    .action(show);
}

async function show(named: string, options: Options): Promise<void> {
  const { runs, trajectory } = trajectoryReference(named, options.runs);
  const found = await findTrajectory(runs, trajectory);
  const run = await openRunFolder(runs, found.run);
  const reader = trajectoryReader(run);
  if (options.tools) {
    const sent = (await sentTools(reader, found)).map((tool) => ({ type: "function", function: tool }));
    process.stdout.write(`${JSON.stringify(sent)}\n`);
    return;
  }
  const read = await readTrajectory(reader, found);
  const detail = options.whole ? await withWholeObservations(run.store, read) : read;
  const written = options.media === undefined ? [] : await writeMedia(run.store, detail, options.media);
  for (const file of written) process.stderr.write(`written: ${file}\n`);
  if (options.json) {
    const { id, record, turns, tokens, segments } = detail;
    process.stdout.write(
      `${JSON.stringify({ id, finished: record !== undefined, ...record, turns, tokens, segments })}\n`,
    );
    return;
  }
  const rows = options.tokens ? tokenRows(detail.segments, await tokenTexts(run)) : undefined;
  process.stdout.write(trajectoryText(detail, paintFor(process.stdout), rows));
}

/** The tools of the agent's first request that has any; none for other loops. */
async function sentTools(reader: RecordReader, trajectory: TrajectoryName): Promise<ToolDefinition[]> {
  for await (const { request } of recordedTurns(reader, trajectory)) {
    if (request?.tools !== undefined && request.tools.length > 0) return request.tools;
  }
  return [];
}
