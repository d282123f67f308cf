import { EverturnError } from "../../../base/errors/everturn-error.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { Task } from "../../../contracts/generated/task.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import { pluginThread } from "../../../plugin/host/plugin-thread.ts";
import { toolName } from "../../../plugin/registry/tool-functions.ts";
import { placeOfRow } from "../read/row-problems.ts";
import { namedSets } from "../read/task-sets.ts";
import type { RunData } from "./preflight.ts";

/** Milliseconds in which a tool must check all tasks. */
const limit = 600_000;

/**
 * Returns the tasks for which tools report that they can't be used: the first one of each set, and their
 * number.
 */
export async function refusedTaskProblems({
  plan: { tools },
  data: { train = [], validation = [], taskFile = [] },
}: {
  plan: { tools: readonly ResolvedPlugin[] };
  data: RunData;
}): Promise<Problem[]> {
  const asked = tools.filter(({ manifest }) => manifest.tool?.checksTasks === true);
  const sets = namedSets({ train, validation, taskFile });
  const problems: Problem[] = [];
  for (const tool of asked) {
    const refusals = await refusalsOf(
      tool,
      sets.flatMap(([, tasks]) => tasks),
    );
    for (const [set, tasks] of sets) {
      const said = refusals.splice(0, tasks.length);
      const refused = tasks.filter((_, index) => said[index] !== undefined);
      const reason = said.find((one) => one !== undefined);
      if (reason === undefined) continue;
      const place = placeOfRow(refused[0], set);
      const count = refused.length === 1 ? "a task" : `${refused.length} tasks`;
      const params = { at: place.text, tool: toolName(tool), tasks: `${count} of ${set}` };
      const plain = reason.replace(/\.$/, "");
      problems.push({ place, error: new EverturnError("TASKS_REFUSED", { ...params, reason: plain }) });
    }
  }
  return problems;
}

/** Asks a tool about each task, in a thread of its own. */
async function refusalsOf(plugin: ResolvedPlugin, tasks: readonly Task[]): Promise<(string | undefined)[]> {
  const { name, config } = plugin;
  const failed = (reason: string, cause?: unknown) =>
    new EverturnError("TOOL_FAILED", { tool: name, reason }, { cause });
  const timedOut = () => new EverturnError("TOOL_TIMED_OUT", { tool: name, seconds: limit / 1000 });
  const log = (text: string) => void process.stderr.write(`${text}\n`);
  const thread = pluginThread({ kind: "tool", plugin, limit, errors: { timedOut, failed }, log });
  try {
    return await thread.ask("refusal", { tasks, config });
  } finally {
    await thread.close();
  }
}
