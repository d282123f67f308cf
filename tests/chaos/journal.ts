import { statSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { files, hashOf, read } from "./read-files.ts";
import { readStepFiles } from "./step-files.ts";

/** What a run holds of a trajectory, record by record or in its step's file. */
export interface KeptTrajectory {
  turns: Map<number, KeptTurn>;
  /** By `turn/call`. */
  calls: Map<string, KeptCall>;
  /** How it was scored, or that it was left out the last time. */
  ending?: Ending;
  /** What is wrong with it. */
  wrong: string[];
}

/** A turn: its segments in the order in which they follow each other. */
export interface KeptTurn {
  head: string;
  segments: Segment[];
  /** By when it was recorded, milliseconds since 1970. */
  recorded: number;
}

export interface KeptCall {
  tool: string;
  observation: string;
  recorded: number;
}

export interface Ending {
  outcome: string;
  head: string | null;
  reward: number;
}

/** Of its content only what chains are made of. */
export interface Segment {
  ref: string;
  previous: string | null;
  origin: string;
}

/** All trajectories of the run at `root`, by stage/task/sample; `wrong` tells of files that can't be read. */
export async function readJournal(
  root: string,
): Promise<{ trajectories: Map<string, KeptTrajectory>; wrong: string[] }> {
  const singles = readSingles(join(root, "trajectories"));
  const { trajectories: folded, wrong } = await readStepFiles(join(root, "steps"));
  const trajectories = new Map([...singles, ...folded]);
  for (const [id, kept] of folded) {
    const single = singles.get(id);
    if (single !== undefined) compare(id, kept, single);
  }
  return { trajectories, wrong };
}

/** A step's file goes first. What is still beside it must say the same, and by when it was recorded. */
function compare(id: string, kept: KeptTrajectory, single: KeptTrajectory): void {
  const differ = (what: string) => kept.wrong.push(`${id} ${what} is another in its step's file`);
  kept.wrong.push(...single.wrong);
  for (const [number, { head, recorded }] of single.turns) {
    const turn = kept.turns.get(number);
    if (turn?.head !== head) differ(`turn ${number}`);
    else turn.recorded = Math.min(turn.recorded, recorded);
  }
  for (const [number, { observation, recorded }] of single.calls) {
    const call = kept.calls.get(number);
    if (call?.observation !== observation) differ(`call ${number}`);
    else call.recorded = Math.min(call.recorded, recorded);
  }
  if (single.ending !== undefined && !isDeepStrictEqual(single.ending, kept.ending)) differ("ending");
}

function readSingles(folder: string): Map<string, KeptTrajectory> {
  const trajectories = new Map<string, KeptTrajectory>();
  const endings = new Map<string, string>();
  for (const name of files(folder)) {
    const [stage = "", task = "", sample = "", file = ""] = name.split("/");
    const parts = /^(turn-(\d+)(-call-(\d+))?|trajectory|left-out-\d+)\.json$/.exec(file);
    if (parts === null) continue;
    const id = `${stage}/${task}/${sample}`;
    const kept: KeptTrajectory = trajectories.get(id) ?? { turns: new Map(), calls: new Map(), wrong: [] };
    trajectories.set(id, kept);
    const { sha256, value } = read(join(folder, name));
    const recorded = statSync(join(folder, name)).ctimeMs;
    const [, , turn, , call] = parts;
    if (call !== undefined) {
      kept.calls.set(`${turn}/${call}`, { tool: value.tool, observation: value.observation, recorded });
    } else if (turn !== undefined) {
      if (hashOf(JSON.stringify(value)) !== sha256) kept.wrong.push(`${name} is not what its digest says`);
      const segments = [segmentOf(value.appended), segmentOf(value.action)];
      kept.turns.set(Number(turn), { head: value.head, segments, recorded });
    } else if (isLater(file, endings.get(id))) {
      endings.set(id, file);
      kept.ending = { outcome: value.outcome, head: value.head, reward: value.reward };
    }
  }
  return trajectories;
}

/** A segment's name is the digest of its content. */
export function segmentOf(content: { previous: string | null; origin: string }): Segment {
  return { ref: hashOf(JSON.stringify(content)), previous: content.previous, origin: content.origin };
}

/** Which of two records of a trajectory counts: how it was scored, else that it was left out the last time. */
function isLater(file: string, known: string | undefined): boolean {
  const numberOf = (name: string) => Number(/\d+/.exec(name)?.[0] ?? Number.POSITIVE_INFINITY);
  return known === undefined || numberOf(file) > numberOf(known);
}
