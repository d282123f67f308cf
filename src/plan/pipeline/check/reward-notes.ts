import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import { counted, number } from "../../../base/text/format.ts";
import type { Task } from "../../../contracts/generated/task.ts";
import type { Turn } from "../../../contracts/generated/trajectory.ts";
import type { Plan, ResolvedReward } from "../../../contracts/plan.ts";
import { type PluginThread, pluginThread } from "../../../plugin/host/plugin-thread.ts";
import { isOfGroups, taskRewards } from "../../../plugin/registry/task-rewards.ts";
import type { DemonstratedChat } from "../read/demonstrated-chat.ts";
import type { RunData } from "./preflight.ts";

/** The number of training tasks with which rewards are tried. */
const tried = 8;

/** Milliseconds in which a reward must score an answer. */
const limit = 10_000;

/** Rewards that compare the answer with the ground truth, which therefore is a right answer. */
const truthRewards = new Set(["reward-exact-match", "reward-math", "reward-qa"]);

/** The ways to write a ground truth as an answer. */
const forms: readonly ((truth: string) => string)[] = [
  (truth) => truth,
  (truth) => `Answer: ${truth}`,
  (truth) => `The answer is \\boxed{${truth}}.`,
  (truth) => `#### ${truth}`,
  (truth) => `<answer>${truth}</answer>`,
];

/** An answer to a task, with the turns that led to it. */
interface Attempt {
  answer: string;
  turns: Turn[];
}

/**
 * Scores right answers, empty ones and those of other tasks with a plan's rewards, and notes if they earn the
 * same. Right answers are the demonstrations' and, in several forms, the ground truth. Does nothing if a reward
 * may cost something: if it uses the network, files or processes, or compares groups.
 */
export async function rewardNotes(plan: Plan, data: RunData): Promise<string[]> {
  const rewards = plan.rewards.filter(({ weight }) => weight !== 0);
  const tasks = (data.train ?? []).slice(0, tried);
  if (tasks.length === 0 || rewards.length === 0 || !rewards.every(isFree)) return [];
  const demonstrated = demonstratedAttempts(data.demonstrations ?? []);
  const threads = new Map(rewards.map((reward) => [reward, rewardThread(reward)]));
  const scoreOf = async (task: Task, { answer, turns }: Attempt): Promise<number> => {
    let total = 0;
    for (const reward of taskRewards(rewards, task)) {
      const request = { task, turns, outcome: "answered" as const, answer, config: reward.config };
      const score = await threads.get(reward)?.ask("score", request);
      if (score !== undefined && "reward" in score) total += reward.weight * score.reward;
    }
    return total;
  };
  try {
    const right: number[] = [];
    const wrong: number[] = [];
    const empty: number[] = [];
    let isKnown = rewards.some(({ name }) => truthRewards.has(name));
    for (const task of tasks) {
      const shown = demonstrated.get(promptOf(task)) ?? [];
      if (shown.length > 0) isKnown = true;
      const truth = task.reward_model.ground_truth;
      const other = tasks.find(({ reward_model }) => reward_model.ground_truth !== truth);
      const written = forms.map((form) => plain(form(truth)));
      const otherWritten =
        other === undefined ? [] : forms.map((form) => plain(form(other.reward_model.ground_truth)));
      for (const attempt of [...shown, ...written]) right.push(await scoreOf(task, attempt));
      for (const attempt of otherWritten) wrong.push(await scoreOf(task, attempt));
      empty.push(await scoreOf(task, plain("")));
    }
    return verdict(isKnown, right, empty, wrong);
  } catch (error) {
    return [`reward: it could not be tried on the first tasks: ${messageOf(error)}`];
  } finally {
    await Promise.all([...threads.values()].map((thread) => thread.close()));
  }
}

/** Compares the scores. `isKnown`: some of the right answers are right for certain. */
function verdict(
  isKnown: boolean,
  right: readonly number[],
  empty: readonly number[],
  wrong: readonly number[],
): string[] {
  const scores = new Set([...right, ...empty, ...wrong]);
  const [only = 0] = scores;
  if (scores.size > 1 || (only === 0 && !isKnown)) return [];
  const answers = [
    counted(right.length, "right answer"),
    counted(empty.length, "empty answer"),
    ...(wrong.length === 0
      ? []
      : [counted(wrong.length, "answer of another task", "answers of other tasks")]),
  ];
  return [
    `reward: ${answers.join(", ")} all earn ${number(only)}. If the reward should tell them apart, correct it or the tasks' ground_truth: rewards that are always equal teach nothing`,
  ];
}

/** Whether scoring an answer costs nothing but time. */
function isFree(reward: ResolvedReward): boolean {
  const { capabilities } = reward.manifest;
  return !isOfGroups(reward) && !capabilities.network && !capabilities.files && !capabilities.processes;
}

function rewardThread(plugin: ResolvedReward): PluginThread {
  const reward = plugin.part ?? plugin.name;
  const failed = (reason: string, cause: unknown) =>
    new EverturnError("REWARD_FAILED", { reward, reason }, { cause });
  const timedOut = () => new EverturnError("REWARD_TIMED_OUT", { reward, seconds: limit / 1000 });
  const log = (text: string) => void process.stderr.write(`${text}\n`);
  return pluginThread({ kind: "reward", plugin, limit, errors: { timedOut, failed }, log });
}

function plain(answer: string): Attempt {
  return { answer, turns: [{ action: answer, toolCalls: [] }] };
}

const promptOf = ({ prompt }: Pick<Task, "prompt">): string =>
  prompt.map(({ role, content }) => `${role}: ${content}`).join("\n");

/** The demonstrations' attempts by the prompt that they answer. */
function demonstratedAttempts(demonstrations: readonly DemonstratedChat[]): Map<string, Attempt[]> {
  const found = new Map<string, Attempt[]>();
  for (const { messages } of demonstrations) {
    const first = messages.findIndex(({ role }) => role === "assistant");
    const prompt = messages
      .slice(0, first)
      .map(({ role, content }) => `${role}: ${content}`)
      .join("\n");
    const attempt = attemptOf(messages.slice(first));
    found.set(prompt, [...(found.get(prompt) ?? []), attempt]);
  }
  return found;
}

function attemptOf(messages: DemonstratedChat["messages"]): Attempt {
  const turns: Turn[] = [];
  for (const { role, content, tool_calls: calls = [] } of messages) {
    if (role === "assistant")
      turns.push({
        action: content,
        toolCalls: calls.map(({ function: call }) => ({
          tool: call.name,
          arguments: call.arguments,
          observation: "",
          valid: true,
          attempts: 1,
        })),
      });
    const answered = turns.at(-1)?.toolCalls.find(({ observation }) => observation === "");
    if (role === "tool" && answered !== undefined) answered.observation = content;
  }
  return { answer: turns.at(-1)?.action ?? "", turns };
}
