import { rowPlace } from "../../base/validation/json-lines.ts";
import type { Task } from "../../contracts/generated/task.ts";

/** The minimum, the median and the maximum of some numbers. */
export interface Spread {
  least: number;
  median: number;
  most: number;
}

/** The contents of a set of tasks. */
export interface TaskSummary {
  rows: number;
  /** The number of rows of each data source, the largest first. */
  sources: [source: string, rows: number][];
  /** The number of rows of each loop that they name in `agent_name`, the largest first. */
  agents: [name: string, rows: number][];
  /** The characters in the texts of a prompt. */
  characters: Spread;
  /** The number of different ground truths, and the most common ones with their rows. */
  groundTruths: { different: number; commonest: [text: string, rows: number][] };
  /** Columns beyond the standard ones of every task, and the number of rows with each. */
  columns: [name: string, rows: number][];
  /**
   * Rows whose prompt also appears in an earlier row, as `file:line` if known, otherwise by number from 1.
   */
  repeated: string[];
}

/** The number of common ground truths to list. */
const told = 3;

const always = new Set(["data_source", "prompt", "reward_model"]);

/** Describes tasks to a person. */
export function describeTasks(tasks: readonly Task[]): TaskSummary {
  const lengths = tasks.map(({ prompt }) => prompt.reduce((sum, { content }) => sum + content.length, 0));
  const truths = counts(tasks.map((task) => task.reward_model.ground_truth));
  const seen = new Set<string>();
  const repeated = tasks.flatMap((task, index) => {
    const prompt = promptOf(task);
    if (seen.has(prompt)) return [placeText(task, index)];
    seen.add(prompt);
    return [];
  });
  return {
    rows: tasks.length,
    sources: counts(tasks.map((task) => task.data_source)),
    agents: counts(tasks.flatMap(({ agent_name: agent }) => agent ?? [])),
    characters: spreadOf(lengths),
    groundTruths: { different: truths.length, commonest: truths.slice(0, told) },
    columns: counts(tasks.flatMap((task) => Object.keys(task).filter((name) => !always.has(name)))),
    repeated,
  };
}

/** The spread of numbers. All 0 for an empty list. */
export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = numbers.toSorted((one, other) => one - other);
  const at = (index: number) => sorted.at(index) ?? 0;
  return { least: at(0), median: at(Math.floor((sorted.length - 1) / 2)), most: at(-1) };
}

/**
 * The rows of `held` that are also in `trained`: prompt, images, ground truth and other data are the same, whatever
 * their split and index. So measurements on them are not held out.
 */
export function sharedTasks(trained: readonly Task[], held: readonly Task[]): string[] {
  const known = new Set(trained.map(contentOf));
  return held.flatMap((task, index) => (known.has(contentOf(task)) ? [placeText(task, index)] : []));
}

/** All that distinguishes a task from others. Environments give tasks the same prompt, and data of their own. */
function contentOf(task: Task): string {
  const { split: _split, index: _index, ...extra } = task.extra_info ?? {};
  return JSON.stringify([promptOf(task), task.reward_model.ground_truth, extra]);
}

/** The parts of a task that distinguish it from others: its prompt, its images, and the state of its tools. */
const promptOf = ({ prompt, images, extra_info: extra }: Task): string =>
  JSON.stringify([prompt.map(({ role, content }) => [role, content]), images, extra?.tools_kwargs]);

/** The place of a row: `file:line` if known, otherwise its number from 1. */
export function placeText(task: object, index: number): string {
  const place = rowPlace(task);
  return place === undefined ? `row ${index + 1}` : `${place.file}:${place.line}`;
}

function counts(values: readonly string[]): [string, number][] {
  const found = new Map<string, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return [...found].sort(([, one], [, other]) => other - one);
}
