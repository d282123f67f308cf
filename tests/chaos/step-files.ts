import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { asyncBufferFromFile, type ParquetRow, parquetReadObjects } from "hyparquet";
import { defined } from "../../src/base/records/defined.ts";
import { type KeptTrajectory, segmentOf } from "./journal.ts";
import { files, hashOf, read } from "./read-files.ts";

/** The trajectories in the files of steps below `folder`, by stage/task/sample, from the columns of docs/parquet.md. */
export async function readStepFiles(
  folder: string,
): Promise<{ trajectories: Map<string, KeptTrajectory>; wrong: string[] }> {
  const trajectories = new Map<string, KeptTrajectory>();
  const wrong: string[] = [];
  for (const name of files(folder).filter((one) => /^\d+\/folded\.json$/.test(one))) {
    const { attempt, files: own } = read(join(folder, name)).value;
    const path = join(folder, name.slice(0, -".json".length), attempt, "trajectories.parquet");
    const recorded = statSync(join(folder, name)).ctimeMs;
    try {
      if (hashOf(readFileSync(path)) !== own["trajectories.parquet"].sha256)
        throw new Error("it is not what its digest says");
      for (const [id, rows] of await rowsIn(path)) trajectories.set(id, keptTrajectory(rows, recorded));
    } catch (error) {
      wrong.push(`${path} can't be read: ${error}`);
    }
  }
  return { trajectories, wrong };
}

/** The rows of each trajectory in a step's file, in the order in which they stand. */
export async function rowsIn(path: string): Promise<Map<string, ParquetRow[]>> {
  const file = await asyncBufferFromFile(path);
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
  const found = new Map<string, ParquetRow[]>();
  for (const row of await parquetReadObjects({ file, compressors })) {
    const id = `${row.stage}/${row.task}/${row.sample}`;
    found.set(id, [...(found.get(id) ?? []), row]);
  }
  return found;
}

interface Segment {
  previous: string | null;
  origin: string;
}

interface Turn {
  head: string;
  appended: Segment;
  action: Segment;
  calls: { call: number; tool: string; observation: string }[];
}

function keptTrajectory(rows: ParquetRow[], recorded: number): KeptTrajectory {
  const [first = {}] = rows;
  const { outcome, head, reward, trajectory, exact } = first;
  const kept: KeptTrajectory = {
    turns: new Map(),
    calls: new Map(),
    ending: { outcome, head, reward },
    wrong: [],
  };
  for (const [index, turn] of (exact ? exactTurns(exact) : turnsOf(rows)).entries()) {
    const number = index + 1;
    const segments = [segmentOf(turn.appended), segmentOf(turn.action)];
    if (segments[1]?.ref !== turn.head)
      kept.wrong.push(`${trajectory} turn ${number} is not what its digest says, in its step's file`);
    kept.turns.set(number, { head: turn.head, segments, recorded });
    for (const { call, tool, observation } of turn.calls)
      kept.calls.set(`${number}/${call}`, { tool, observation, recorded });
  }
  return kept;
}

/** What the columns can't say is all there as JSON. */
function exactTurns(exact: string): Turn[] {
  return JSON.parse(exact).turns.map(({ recorded, calls }: ParquetRow) => ({
    ...recorded,
    calls: calls.flatMap(({ call, recorded: made }: ParquetRow) =>
      made === undefined ? [] : [{ call, ...made }],
    ),
  }));
}

/** Two rows a turn: what was appended, and the action. */
function turnsOf(rows: ParquetRow[]): Turn[] {
  const turns: Turn[] = [];
  for (let index = 0; index + 1 < rows.length; index += 2) {
    const [before = {}, row = {}] = rows.slice(index, index + 2);
    const previous = before.follows_turn ? (turns[before.follows_turn - 1]?.head ?? null) : null;
    const appended = segment(previous, before);
    const action = segment(hashOf(JSON.stringify(appended)), row);
    const answered = (row.calls ?? []).filter(({ observation }: ParquetRow) => observation !== null);
    turns.push({ head: row.segment, appended, action, calls: answered });
  }
  return turns;
}

/** Its names in the order that its digest is over. */
function segment(previous: string | null, row: ParquetRow) {
  return defined<Segment & ParquetRow>({
    previous,
    origin: row.origin,
    text: row.text,
    tokens: row.tokens,
    logprobs: row.logprobs ?? undefined,
    temperedLogprobs: row.tempered_logprobs ?? undefined,
    samplingLogprobs: row.sampling_logprobs ?? undefined,
    routerTies: row.router_ties ?? undefined,
    policyVersion: row.policy_version ?? undefined,
  });
}
