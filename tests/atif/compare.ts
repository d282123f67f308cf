import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Atif } from "../../src/contracts/generated/atif.ts";
import { readDemonstrations } from "../../src/plan/pipeline/read/demonstrations.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { trajectoryReader } from "../../src/run/trajectory/reader.ts";
import { readRows } from "../../src/run/trajectory/segments.ts";
import { readTrajectoryRecord } from "../../src/run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../src/run/trajectory/trajectory-of.ts";
import { harborErrors } from "./harbor.ts";

/** Nothing counted yet. */
export function noCounts() {
  return {
    documents: 0,
    accepted: 0,
    steps: 0,
    subagents: 0,
    copied: 0,
    images: 0,
    rows: 0,
    different: 0,
  };
}

/**
 * Validates the exported documents of a run of the folder `work` with Harbor's validator, reads them as demonstrations,
 * and compares the tokens and log-probabilities with those that the run recorded. `different` counts documents whose
 * tokens or log-probabilities differ.
 */
export async function compare(work: string, run: string, lines: readonly string[], pythonPath: string) {
  const counts = noCounts();
  const problems: string[] = [];
  const files = lines.map((line, index) => {
    const file = join(work, `${run}-${index}.trajectory.json`);
    writeFileSync(file, line);
    return file;
  });
  for (const [index, errors] of (await harborErrors(pythonPath, files)).entries()) {
    counts.documents++;
    if (errors.length === 0) counts.accepted++;
    else problems.push(`Harbor refuses ${files[index]}: ${errors.join("; ")}`);
  }
  const reader = trajectoryReader(await openRunFolder(work, run));
  for (const [index, line] of lines.entries()) {
    const document: Atif = JSON.parse(line);
    counts.steps += document.steps.length;
    counts.subagents += document.subagent_trajectories?.length ?? 0;
    counts.copied += document.steps.filter((step) => step.is_copied_context === true).length;
    counts.images += line.split(runFolder(work, run).root).length - 1;
    const place = trajectoryOf(document.trajectory_id ?? "");
    const { head = null, origin } = (await readTrajectoryRecord(reader, place)) ?? {};
    const { actions } = await readRows(reader, place, head);
    const own = actions.slice(origin?.turns ?? 0);
    const wanted = own.flatMap((one) => one.tokens.map((token, at) => [token, one.logprobs?.[at]]));
    const chats = await readDemonstrations(files[index] ?? "");
    const found = chats.flatMap(({ sampled }) =>
      (sampled?.tokens ?? []).flatMap((token, at) =>
        sampled?.mask[at] === 1 ? [[token, sampled.logprobs?.[at]]] : [],
      ),
    );
    counts.rows += chats.length;
    if (isDeepStrictEqual(inOrder(found), inOrder(wanted))) continue;
    counts.different++;
    problems.push(
      `${document.trajectory_id}: ${wanted.length} tokens were recorded, and ${found.length} were read`,
    );
  }
  return { counts, problems };
}

/** Sub-agents' tokens come last in a document, and in their turns' places in a journal. */
function inOrder(pairs: (number | undefined)[][]): string[] {
  return pairs.map((pair) => pair.join(" ")).sort();
}
