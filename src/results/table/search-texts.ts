import type { OpenRun } from "../../run/folder/open-runs.ts";
import { foldedKey, recordedStepKey, type TrajectoryName } from "../../run/store/keys.ts";
import { lengthOfRow } from "../../run/store/row.ts";
import { readTexts } from "../../run/trajectory/folded/parquet-file.ts";
import { listedTrajectories } from "../../run/trajectory/listed-trajectories.ts";
import { recordedTurns } from "../../run/trajectory/segments.ts";

/** The first place where a trajectory contains a text. */
export interface TextHit {
  name: TrajectoryName;
  turn: number;
  /** prompt, action or observation. */
  origin: string;
  /** The text around it. "…" marks a cut. */
  before: string;
  found: string;
  after: string;
}

/** A part of a search: a trajectory or a step's file. */
export interface SearchedPart {
  trajectories: number;
  hits: TextHit[];
}

/** Characters to show on each side of a hit. */
const around = 80;

/**
 * Searches in the prompts, actions and observations that the policy read and wrote, in all trajectories of a run,
 * finished or not. Case does not matter. Trajectories with single records, which are the newest, come first, then
 * steps' files, the newest first. Each trajectory is reported once, with its first hit.
 */
export async function* searchTexts(
  { store }: Pick<OpenRun, "store">,
  text: string,
): AsyncGenerator<SearchedPart> {
  const find = finder(text);
  const single = new Set<string>();
  for await (const name of listedTrajectories(store)) {
    const hits: TextHit[] = [];
    let turn = 0;
    for await (const { appended, action } of recordedTurns(store, name)) {
      turn++;
      for (const segment of [appended, action]) hits.push(...find(name, turn, segment.origin, segment.text));
      if (hits.length > 0) break;
    }
    single.add(keyOf(name));
    yield { trajectories: 1, hits: hits.slice(0, 1) };
  }
  for (let step = await lengthOfRow(store, recordedStepKey); step > 0; step--) {
    const key = foldedKey(step);
    const tree = await store.readTree(key);
    if (tree === undefined) continue;
    const first = new Map<string, TextHit>();
    await store.inFolder(key, tree, "", async (folder) => {
      for await (const { stage, task, sample, turn, origin, text: content } of readTexts(folder)) {
        const name = { stage, task, sample };
        const id = keyOf(name);
        if (first.has(id) || single.has(id)) continue;
        const [hit] = find(name, turn, origin, content);
        if (hit !== undefined) first.set(id, hit);
      }
    });
    yield { trajectories: tree.value.trajectories.length, hits: [...first.values()] };
  }
}

function keyOf({ stage, task, sample }: TrajectoryName): string {
  return `${stage}/${task}/${sample}`;
}

/** A function that returns the first place of the text in a segment, if there is one. */
function finder(text: string) {
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "iu");
  return (name: TrajectoryName, turn: number, origin: string, content: string): TextHit[] => {
    const match = pattern.exec(content);
    if (match === null) return [];
    const [matched] = match;
    const start = Math.max(0, match.index - around);
    const end = match.index + matched.length;
    return [
      {
        name,
        turn,
        origin,
        before: `${start > 0 ? "…" : ""}${content.slice(start, match.index)}`,
        found: matched,
        after: `${content.slice(end, end + around)}${end + around < content.length ? "…" : ""}`,
      },
    ];
  };
}
