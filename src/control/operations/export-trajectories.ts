import { basename, resolve } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { defined } from "../../base/records/defined.ts";
import { identified } from "../../chat/formats/action-format.ts";
import { expressionReader } from "../../chat/formats/expression.ts";
import { parseAction } from "../../chat/formats/parse-action.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { Message } from "../../contracts/message.ts";
import type { ParsedAction } from "../../contracts/parsed-action.ts";
import type { Plan } from "../../contracts/plan.ts";
import { loopOfTask } from "../../contracts/plan-loops.ts";
import { offeredTools, toolDefinitions } from "../../plan/pipeline/resolve/tool-definitions.ts";
import { readTrajectory } from "../../results/report/read-trajectory.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { type AtifSettings, atifTrajectory } from "../../run/projections/atif-trajectory.ts";
import type { ListedTrajectory } from "../../run/projections/listed-trajectory.ts";
import type { TrajectoryDetail } from "../../run/projections/trajectory-detail.ts";
import { messagesOf } from "../../run/projections/trajectory-messages.ts";
import { verlLine } from "../../run/projections/verl-line.ts";
import { bytesPath } from "../../run/store/open-store.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";

/**
 * The forms in which trajectories are exported, one line of JSON each. `records`: all records. `messages`: OpenAI's
 * messages and tools, for fine-tuning. `preferences`: the best and the worst of each group with different rewards,
 * as TRL's conversational preferences. `verl`: the fields of verl's `rollout_data_dir`. `atif`: Harbor's Agent
 * Trajectory Interchange Format, with token ids and log-probabilities.
 */
export const exportForms = ["records", "messages", "preferences", "verl", "atif"] as const;

/** One of these forms. */
export type ExportForm = (typeof exportForms)[number];

/** The parts of a trajectory that an export needs. */
type Listed = Pick<ListedTrajectory, "id" | "outcome" | "reward">;

/** The lines of an export. Trajectories that were left out have no score, so only `records` contains them. */
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
  const atif = atifSettings(run);
  for await (const one of trajectories) {
    if (form !== "records" && one.outcome === "left-out") continue;
    const detail = await read(one);
    if (detail.record === undefined) continue; // its run was pruned meanwhile
    if (form === "records") yield detail.record;
    else if (form === "verl") yield verlLine(detail);
    else if (form === "atif") yield atifTrajectory(detail, detail.record, atif(detail.record));
    else
      yield {
        messages: [...promptOf(detail), ...messagesOf(detail.turns, actionReader(run.plan))],
        ...toolsOf(run, detail),
      };
  }
}

/** The best and the worst of each group by reward, if their rewards differ. */
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
  const [chosen, rejected] = [best, worst].map(({ turns }) => messagesOf(turns, actionReader(run.plan)));
  return { prompt: promptOf(best), chosen, rejected, ...toolsOf(run, best) };
}

function promptOf({ record }: TrajectoryDetail): readonly Message[] {
  return record?.task.prompt ?? [];
}

function toolsOf(run: OpenRun, { record }: TrajectoryDetail): object {
  const tools = shownTools(run, record);
  return tools.length === 0 ? {} : { tools };
}

/** The tools that a trajectory's loop shows the policy, in OpenAI's form. */
function shownTools({ plan }: OpenRun, record: Pick<Trajectory, "task"> | undefined) {
  const offered = offeredTools(plan, loopOfTask(plan, record?.task ?? {}));
  return offered.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}

/** The settings with which a run's trajectories become ATIF. */
function atifSettings(run: OpenRun): (record: Trajectory) => AtifSettings {
  const { plan, folder } = run;
  const { name, config } = plan.policy;
  const model = typeof config.model === "string" ? basename(config.model) : name;
  const read = actionReader(plan);
  return (record) => {
    const tools = shownTools(run, record);
    return {
      agent: defined({
        name: "everturn",
        version: packageJson.version,
        model_name: model,
        tool_definitions: tools.length === 0 ? undefined : tools,
        extra: { loop: (loopOfTask(plan, record.task) ?? plan.loop).name },
      }),
      read,
      imagePath: (sha256) => resolve(folder.root, bytesPath(sha256)),
    };
  };
}

/** A function that reads actions like the run. */
function actionReader(plan: Plan): (action: string) => ParsedAction {
  const { format, expression } = plan.rollout;
  const tools = toolDefinitions(plan);
  if (expression === undefined) return (action) => parseAction(action, defined({ tools, format }));
  const read = expressionReader(expression);
  return (action) => identified(read(action, tools));
}
