import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { Task } from "../../../contracts/generated/task.ts";
import type { Message, MessageImage, ToolDefinition } from "../../../contracts/message.ts";
import type { Plan, ResolvedPlugin, ResolvedReward } from "../../../contracts/plan.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";
import { loadPolicy } from "../../../plugin/registry/registry.ts";
import { taskRewards } from "../../../plugin/registry/task-rewards.ts";
import { countRows } from "../read/count-rows.ts";
import type { DemonstratedChat } from "../read/demonstrated-chat.ts";
import { type Examples, frameChat } from "../read/examples.ts";
import { placeOfRow, rowProblems } from "../read/row-problems.ts";
import { namedSets, type TaskSets } from "../read/task-sets.ts";
import { toolsOfChats } from "../resolve/demonstrated-tools.ts";
import { toolDefinitions, toolsOfTasks } from "../resolve/tool-definitions.ts";
import { demonstratedActions } from "./demonstrated-actions.ts";
import { demonstratedCallProblems } from "./demonstrated-calls.ts";
import { sampledTokenProblems } from "./sampled-tokens.ts";
import { taskLoopProblems } from "./task-loops.ts";

/** The rows that a run reads. Undefined where they are not checked. */
export interface RunData {
  train?: readonly Task[] | undefined;
  validation?: readonly Task[] | undefined;
  demonstrations?: readonly DemonstratedChat[] | undefined;
  examples?: Examples | undefined;
  /** The tasks of an evaluation on a separate file. */
  taskFile?: readonly Task[];
}

/** The messages of rows with the sizes of the images that they show, on which the number of their tokens depends. */
export interface SizedImages {
  prompt(task: Task): Message[];
  chat(chat: DemonstratedChat): DemonstratedChat;
}

/** The results of checking a run's rows before it begins. */
export interface Preflight {
  problems: Problem[];
  /** Absent if the policy can't frame text yet, so that no tokens were counted. */
  counted?: {
    /** The number of tokens that a trajectory may have. */
    room: number;
    rows: { name: string; rows: number; counted: number; longest: number }[];
    /** The first task's prompt as the policy reads it. */
    prompt?: { at: string; text: string; tokens: number };
  };
}

/**
 * Returns how a policy frames text, without loading its weights. `folder` is that of a version, if one
 * exists.
 */
export async function policyFraming(
  policy: ResolvedPlugin,
  folder?: string,
): Promise<PolicyFraming | undefined> {
  const plugin = await loadPolicy(policy);
  return plugin.framing?.(structuredClone(policy.config), folder);
}

/**
 * Finds problems that would otherwise appear in the middle of a run: tasks that leave no room for an action,
 * demonstrations longer than the policy's context or with an action that a rollout would cut, rows that its
 * chat template rejects, demonstrated calls that the tools would reject, token ids of another tokenizer, and tasks
 * that no reward scores. In large data sets only the longest rows are counted. Image tokens count.
 */
export function preflight(
  plan: Plan,
  data: RunData,
  framing: PolicyFraming | undefined,
  sized: SizedImages,
): Preflight {
  const { train = [], validation = [], demonstrations = [], taskFile = [] } = data;
  const { learned = [], rejected = [] } = data.examples ?? {};
  const toolsOf = toolsOfChats(plan);
  const offeredTo = toolsOfTasks(plan);
  const unframed = [
    ...demonstratedCallProblems(plan, [...demonstrations, ...learned]),
    ...taskLoopProblems(plan, { train, validation, taskFile }),
    ...unscoredTaskProblems(plan.rewards, { train, validation, taskFile }),
  ];
  if (framing === undefined) return { problems: unframed };
  const { contextLength } = framing;
  const limit = plan.rollout.limits?.tokens ?? Number.POSITIVE_INFINITY;
  const context = `the policy's context of ${contextLength} tokens`;
  const within = limit < contextLength ? `rollout.limits.tokens (${limit})` : context;
  const room = Math.min(contextLength, limit);
  const tools = [...toolDefinitions(plan), ...(plan.demonstratedTools ?? [])];
  const added = templateBytes(framing, tools, train[0] ?? taskFile[0] ?? validation[0]);
  const bytesOf = rowBytes(framing);

  function check<Row extends object>(
    part: { name: string; rows: string; need: string; room: number },
    rows: readonly Row[],
    bytes: (row: Row) => number,
    frame: (row: Row) => number,
  ) {
    const count = countRows({ rows, room: part.room, reason: messageOf, bytes, frame });
    const { counted, longest } = count;
    return { problems: rowProblems(count, part), name: part.name, rows: rows.length, counted, longest };
  }

  const actions = demonstratedActions(plan.rollout.maxActionTokens);
  /** A rollout must be able to write what the policy imitates. A rejected answer may be anything. */
  const checkChats = (name: string, rows: string, chats: readonly DemonstratedChat[], isImitated = true) =>
    check(
      { name, rows, need: `no room in ${context}`, room: contextLength },
      chats,
      (chat) => chat.sampled?.tokens.length ?? added + bytesOf(sized.chat(chat).messages),
      (chat) => {
        const { tokens, mask } = frameChat(framing, sized.chat(chat), toolsOf(chat));
        if (isImitated && tokens.length <= contextLength) actions.see(chat, mask);
        return tokens.length;
      },
    );
  const prompt = (task: Task) => framing.framePrompt(sized.prompt(task), offeredTo(task));
  const most = plan.rollout.prompts?.tokens ?? Number.POSITIVE_INFINITY;
  const need =
    most < room ? `more than rollout.prompts.tokens (${most})` : `no room for an action in ${within}`;
  const checkTasks = (name: string, tasks: readonly Task[]) =>
    check(
      { name, rows: "tasks", need, room: Math.min(room - 1, most) },
      tasks,
      (task) => added + bytesOf(sized.prompt(task)),
      (task) => prompt(task).tokens.length,
    );
  const checked = [
    checkTasks("dataset.train", train),
    checkTasks("dataset.validation", validation),
    checkTasks("the task file", taskFile),
    checkChats("warmStart.demonstrations", "demonstrations", demonstrations),
    plan.dpo === undefined
      ? checkChats("sft.demonstrations", "demonstrations", learned)
      : checkChats("dpo.preferences", "chosen answers", learned),
    checkChats("dpo.preferences, rejected", "rejected answers", rejected, false),
  ].filter(({ rows }) => rows > 0);
  const problems = [
    ...unframed,
    ...sampledTokenProblems(framing.vocabulary, demonstrations, "warmStart.demonstrations"),
    ...sampledTokenProblems(framing.vocabulary, learned, "sft.demonstrations"),
    ...checked.flatMap((part) => part.problems),
    ...actions.problems(),
  ];
  const rowCounts = checked.map(({ problems: _, ...count }) => count);
  const [first] = [...train.slice(0, 1), ...validation];
  if (first === undefined || problems.length > 0) return { problems, counted: { room, rows: rowCounts } };
  const { text, tokens } = prompt(first);
  const at = placeOfRow(first, train.length > 0 ? "dataset.train" : "dataset.validation").text;
  return { problems, counted: { room, rows: rowCounts, prompt: { at, text, tokens: tokens.length } } };
}

/** Bytes of a message in addition to its content: its role and delimiters. */
const bytesOfMessage = 64;

function messageBytes(messages: readonly Message[]): number {
  const texts = messages.map(({ content, tool_calls: calls }) =>
    calls === undefined ? content : content + JSON.stringify(calls),
  );
  return texts.reduce((total, text) => total + Buffer.byteLength(text) + bytesOfMessage, 0);
}

/**
 * Returns a function that gives the bytes of messages, where each token of an image is one byte. A token of a text is
 * not shorter.
 */
function rowBytes(framing: PolicyFraming): (messages: readonly Message[]) => number {
  const known = new Map<string, number>();
  const bytesOf = (image: MessageImage) => {
    const size = `${image.width}x${image.height}`;
    const bytes = known.get(size) ?? imageTokens(framing, image);
    known.set(size, bytes);
    return bytes;
  };
  return (messages) => {
    const images = messages.flatMap((message) => message.images ?? []);
    return images.reduce((total, image) => total + bytesOf(image), messageBytes(messages));
  };
}

/** The tokens of a message with nothing but an image, or 0 if the policy rejects it, which counting its row reports. */
function imageTokens({ framePrompt }: PolicyFraming, image: MessageImage): number {
  try {
    return framePrompt([{ role: "user", content: "", images: [image] }], []).tokens.length;
  } catch {
    return 0;
  }
}

/** Bytes that the template adds to the messages, for example for the tools. 0 if it rejects the task. */
function templateBytes(framing: PolicyFraming, tools: ToolDefinition[], task: Task | undefined): number {
  if (task === undefined) return 0;
  try {
    const { text } = framing.framePrompt(task.prompt, tools);
    return Math.max(0, Buffer.byteLength(text) - messageBytes(task.prompt));
  } catch {
    return 0; // the row is rejected when it is counted
  }
}

/** The tasks that no weighted reward scores: each data source once, at its first task. */
function unscoredTaskProblems(rewards: readonly ResolvedReward[], sets: TaskSets): Problem[] {
  const weighed = rewards.filter(({ weight }) => weight !== 0);
  return namedSets(sets).flatMap(([set, tasks]) => {
    const unscored = tasks.filter((task) => taskRewards(weighed, task).length === 0);
    const sources = [...new Set(unscored.map((task) => task.data_source))];
    return sources.map((source): Problem => {
      const rows = unscored.filter((task) => task.data_source === source);
      const place = placeOfRow(rows[0], set);
      const count = rows.length === 1 ? "a task" : `${rows.length} tasks`;
      const params = { at: place.text, source, tasks: `${count} of ${set}` };
      return { place, error: new EverturnError("TASKS_UNSCORED", params) };
    });
  });
}
