import type { Message } from "../../contracts/message.ts";
import { loopOfTask } from "../../contracts/plan-loops.ts";
import { offeredTools } from "../../plan/pipeline/resolve/tool-definitions.ts";
import { readTrajectory, type TrajectoryDetail } from "../../results/report/trajectory-detail.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import type { ListedTrajectory } from "./list-trajectories.ts";
import { messagesOf } from "./trajectory-messages.ts";

/**
 * The forms in which trajectories are exported, a line of JSON each. `records`: all that is recorded. `messages`: OpenAI's
 * messages and tools, as fine-tuning takes them. `preferences`: the best and the worst of each group that differs, as TRL's
 * conversational preferences. `verl`: the fields of verl's `rollout_data_dir`.
 */
export const exportForms = ["records", "messages", "preferences", "verl"] as const;

/** One of them. */
export type ExportForm = (typeof exportForms)[number];

/** Which trajectories are exported. */
type Listed = Pick<ListedTrajectory, "id" | "outcome" | "reward">;

/** The lines of an export. What was left out has no score, and is in `records` alone. */
export async function* exportLines(
  run: OpenRun,
  form: ExportForm,
  trajectories: AsyncIterable<Listed>,
): AsyncGenerator<object> {
  const reader = trajectoryReader(run);
  const read = async ({ id }: Listed) => {
    const [, stage = "", task = "", sample = ""] = id.split("/");
    return readTrajectory(reader, { id, stage, task, sample: Number(sample) });
  };
  if (form === "preferences") {
    for (const [best, worst] of await pairs(trajectories))
      yield preference(run, await read(best), await read(worst));
    return;
  }
  for await (const one of trajectories) {
    if (form !== "records" && one.outcome === "left-out") continue;
    const detail = await read(one);
    if (detail.record === undefined) continue; // its run was pruned meanwhile
    if (form === "records") yield detail.record;
    else if (form === "verl") yield verlLine(detail);
    else
      yield {
        messages: [...promptOf(detail), ...messagesOf(run.plan, detail.turns)],
        ...toolsOf(run, detail),
      };
  }
}

/** The best and the worst of each group, by reward, where these differ. */
async function pairs(trajectories: AsyncIterable<Listed>): Promise<[best: Listed, worst: Listed][]> {
  const groups = new Map<string, [best: Listed, worst: Listed]>();
  for await (const one of trajectories) {
    if (one.outcome === "left-out") continue;
    const group = one.id.slice(0, one.id.lastIndexOf("/"));
    const [best, worst] = groups.get(group) ?? [one, one];
    groups.set(group, [one.reward > best.reward ? one : best, one.reward < worst.reward ? one : worst]);
  }
  return [...groups.values()].filter(([best, worst]) => best.reward > worst.reward);
}

function preference(run: OpenRun, best: TrajectoryDetail, worst: TrajectoryDetail): object {
  const [chosen, rejected] = [best, worst].map(({ turns }) => messagesOf(run.plan, turns));
  return { prompt: promptOf(best), chosen, rejected, ...toolsOf(run, best) };
}

function verlLine({ record, segments }: TrajectoryDetail): object {
  const [input, ...output] = segments.map(({ text }) => text);
  return {
    input: input ?? "",
    output: output.join(""),
    gts: record?.task.reward_model.ground_truth,
    score: record?.reward,
    step: record?.step,
    ...record?.metrics,
  };
}

function promptOf({ record }: TrajectoryDetail): readonly Message[] {
  return record?.task.prompt ?? [];
}

function toolsOf({ plan }: OpenRun, { record }: TrajectoryDetail): object {
  const offered = offeredTools(plan, loopOfTask(plan, record?.task ?? {}));
  const tools = offered.map((definition) => ({ type: "function", function: definition }));
  return tools.length === 0 ? {} : { tools };
}
