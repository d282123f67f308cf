import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { promptMessages, withImagesOf } from "../../chat/images/message-images.ts";
import type { GenerateTurnInput } from "../../contracts/generate-turn.ts";
import type { Message } from "../../contracts/message.ts";
import type { Policy } from "../../contracts/policy.ts";
import type { Begun, TaskSource } from "../../contracts/trajectory.ts";
import { type RunTasks, taskAt } from "../../plan/tasks/run-tasks.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import type { Journal } from "../../run/trajectory/run-journal.ts";
import { readCalls } from "../../run/trajectory/turn-journal.ts";
import { framedMessages } from "../agents/framed-messages.ts";
import { type CutObservations, cutObservations } from "../tools/cut-observations.ts";

/** Where the messages of a turn, and their images, are read from. */
interface MessageSources {
  run: OpenRun;
  tasks: RunTasks;
  journal: Journal;
}

/** The task's prompt, where the turn only says where the task is. Throws TASK_NOT_FOUND. */
export async function readPrompt(
  input: GenerateTurnInput,
  { run, tasks }: Pick<MessageSources, "run" | "tasks">,
): Promise<Message[] | undefined> {
  if (input.request !== undefined || input.head !== null || input.source === undefined) return undefined;
  return (await taskAt(run, tasks, input.source, input.place.task)).prompt;
}

/**
 * The messages that a turn appends, as its policy reads them: with images if it reads those, and observations cut at
 * their limit of tokens. `prompt` is what `readPrompt` returned. Throws IMAGE_UNUSABLE.
 */
export async function turnMessages(
  input: GenerateTurnInput,
  prompt: Message[] | undefined,
  policy: Pick<Policy, "readsImages" | "cutText">,
  sources: MessageSources,
): Promise<CutObservations> {
  const asked = input.request === undefined ? [] : framedMessages(input.request);
  const messages = [...(prompt ?? []), ...asked, ...input.messages];
  const shown = policy.readsImages === true ? await withImages(input, messages, sources) : messages;
  return cutObservations(sources.run.plan, policy, shown);
}

/** An agent's messages have images of their own. */
async function withImages(
  input: GenerateTurnInput,
  messages: Message[],
  sources: MessageSources,
): Promise<Message[]> {
  if (input.request !== undefined) return messages;
  if (input.head !== null) return withImagesOfCalls(input, input.answers, messages, sources);
  const source = input.promptOf ?? input.source;
  if (source === undefined) return withImagesOfCalls(input, undefined, messages, sources);
  return withImagesOfTask(input, source, messages, sources);
}

/** Shows the images of the task's prompt, which the messages begin with. */
async function withImagesOfTask(
  { place }: GenerateTurnInput,
  source: TaskSource,
  messages: Message[],
  { run, tasks }: MessageSources,
): Promise<Message[]> {
  const task = await taskAt(run, tasks, source, place.task);
  const prompt = await promptMessages(task, run.plan.dataset.images, run.store.bytes).catch((error) => {
    const params = { at: place.id, tasks: "its task", reason: messageOf(error) };
    throw new EverturnError("IMAGE_UNUSABLE", params, { cause: error });
  });
  return [...prompt, ...messages.slice(task.prompt.length)];
}

/** Shows the images that tools answered with. Default for `answers`: the calls of the turn before. */
async function withImagesOfCalls(
  { place, turn, callsBefore }: GenerateTurnInput,
  answers: Begun | undefined,
  messages: Message[],
  { journal }: MessageSources,
): Promise<Message[]> {
  if (turn === 1) return messages;
  const answered = answers ?? { turn: turn - 1, calls: callsBefore };
  const calls = await readCalls(journal, place, answered.turn, answered.calls);
  return withImagesOf(
    messages,
    calls.map(({ recorded }) => recorded),
  );
}
