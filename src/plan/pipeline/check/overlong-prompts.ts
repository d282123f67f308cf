import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import type { Task } from "../../../contracts/generated/task.ts";
import type { Message, ToolDefinition } from "../../../contracts/message.ts";
import type { Plan } from "../../../contracts/plan.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";
import { toolsOfTasks } from "../resolve/tool-definitions.ts";
import type { RunData, SizedImages } from "./preflight.ts";

/** A plan that leaves out tasks, the rows that remain, and notes for people. */
export interface WithoutOverlong {
  plan: Plan;
  data: RunData;
  notes: string[];
}

/**
 * Leaves out tasks whose prompts, including tools, have more tokens than `rollout.prompts` allows, if the
 * plan asks for it. If that would leave a set empty, the set stays whole, and `preflight` refuses it.
 * `preflight` also checks the sets of a policy that can't count tokens yet.
 */
export function withoutOverlong(
  plan: Plan,
  data: RunData,
  framing: PolicyFraming | undefined,
  sized: SizedImages,
): WithoutOverlong {
  const { prompts } = plan.rollout;
  if (prompts === undefined || prompts.overlong === "refuse" || framing === undefined)
    return { plan, data, notes: [] };
  const offeredTo = toolsOfTasks(plan);
  const notes: string[] = [];
  const leftOutOf = (name: string, tasks: readonly Task[] = []) => {
    const lengths = tasks.map((task) => promptLength(framing, sized.prompt(task), offeredTo(task)));
    const rows = [...lengths.keys()].filter((row) => (lengths[row] ?? 0) > prompts.tokens);
    if (rows.length === 0 || rows.length === tasks.length) return [];
    const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
    const what = `prompts have more than ${prompts.tokens} tokens (rollout.prompts), the longest ${longest}`;
    notes.push(`${name}: ${rows.length} of ${tasks.length} tasks left out, whose ${what}`);
    return rows;
  };
  const train = leftOutOf("dataset.train", data.train);
  const validation = leftOutOf("dataset.validation", data.validation);
  if (notes.length === 0) return { plan, data, notes };
  const leftOut = { train, validation };
  return { plan: { ...plan, dataset: { ...plan.dataset, leftOut } }, data: keptRows(data, leftOut), notes };
}

/** Returns a run's rows without those that its plan leaves out. */
export function keptRows(data: RunData, leftOut: Plan["dataset"]["leftOut"]): RunData {
  if (leftOut === undefined) return data;
  const kept = (tasks: readonly Task[] | undefined, rows: readonly number[]) => {
    const out = new Set(rows);
    return tasks?.filter((_, row) => !out.has(row));
  };
  return {
    ...data,
    train: kept(data.train, leftOut.train),
    validation: kept(data.validation, leftOut.validation),
  };
}

/** Returns the prompt's tokens, or 0 if the template rejects the task, which another check reports. */
function promptLength({ framePrompt }: PolicyFraming, prompt: Message[], tools: ToolDefinition[]): number {
  try {
    return framePrompt(prompt, tools).tokens.length;
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return 0;
  }
}
