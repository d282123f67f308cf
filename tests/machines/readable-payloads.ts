import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { files, read } from "../chaos/read-files.ts";
import { rowsIn } from "../chaos/step-files.ts";
import { readablePlaces } from "../support/readable-places.ts";

/** Texts of each kind that are looked for. */
const most = 12;

/** The shortest text that nothing else can be taken for. */
const shortest = 9;

/** Texts of a run that nobody may read on its server. */
export interface PrivateTexts {
  prompts: string[];
  actions: string[];
  observations: string[];
}

/**
 * The longest prompts and observations in the files of a run's steps, and of its actions what the loop
 * (tests/plugins/loop-drill) passes to tools.
 */
export async function privateTexts(root: string): Promise<PrivateTexts> {
  const found = { prompts: new Set<string>(), actions: new Set<string>(), observations: new Set<string>() };
  for (const name of files(join(root, "steps")).filter((one) => /^\d+\/folded\.json$/.test(one))) {
    const { attempt } = read(join(root, "steps", name)).value;
    const file = join(root, "steps", name.slice(0, -".json".length), attempt, "trajectories.parquet");
    for (const { origin, text, calls } of [...(await rowsIn(file)).values()].flat()) {
      const lines = text.split(/<\|\w+\|>|\n/);
      if (origin === "prompt") for (const line of lines) found.prompts.add(line);
      const begin = text.slice(0, 4);
      if (origin === "action" && /^[\w .+-]{4}$/.test(begin)) found.actions.add(`"text":"${begin}"`);
      for (const { observation } of calls ?? [])
        if (observation !== null) found.observations.add(observation);
    }
  }
  const { prompts, actions, observations } = found;
  return { prompts: longest(prompts), actions: longest(actions), observations: longest(observations) };
}

/** Where texts can be read in Temporal's database in a folder, and in its log. */
export function readableIn(folder: string, texts: readonly string[]): string[] {
  const names = readdirSync(folder).filter((name) => name.startsWith("temporal."));
  const own = names.map((name) => join(folder, name)).filter((file) => statSync(file).isFile());
  return readablePlaces(own, ...texts);
}

/** Those that are the same in JSON and that nothing else can be taken for: the longest ones. */
function longest(texts: ReadonlySet<string>): string[] {
  const usable = [...texts].filter((text) => text.length >= shortest && /^[ -[\]-~]*$/.test(text));
  return usable.sort((a, b) => b.length - a.length).slice(0, most);
}
