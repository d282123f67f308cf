import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { promptMessages, withImagesOf } from "../../chat/images/message-images.ts";
import type { GenerateTurnInput } from "../../contracts/generate-turn.ts";
import type { Message } from "../../contracts/message.ts";
import type { Policy } from "../../contracts/policy.ts";
import type { Begun, TaskSource } from "../../contracts/trajectory.ts";
import { type RunTasks, taskAt } from "../../plan/tasks/run-tasks.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { measuredMessages } from "../../run/trajectory/measured-messages.ts";
import type { Journal } from "../../run/trajectory/run-journal.ts";
import { readCalls } from "../../run/trajectory/turn-journal.ts";
import { framedMessages } from "../agents/framed-messages.ts";
import { type CutObservations, cutObservations } from "../tools/cut-observations.ts";

/** The sources of a turn's messages and images. */
interface MessageSources {
  run: OpenRun;
  tasks: RunTasks;
  journal: Journal;
}

/** Returns the task's prompt if the turn contains only the task's source. Throws TASK_NOT_FOUND. */
export async function readPrompt(
  input: GenerateTurnInput,
  { run, tasks }: Pick<MessageSources, "run" | "tasks">,
): Promise<Message[] | undefined> {
  if (input.request !== undefined || input.head !== null || input.source === undefined) return undefined;
  return (await taskAt(run, tasks, input.source, input.place.task)).prompt;
}

/**
 * Returns the messages that a turn appends, as its policy reads them: with images if it reads those, and with
 * observations cut at their limit of tokens. `prompt` comes from `readPrompt`. Throws IMAGE_UNUSABLE.
 */
export async function turnMessages(
  input: GenerateTurnInput,
  prompt: Message[] | undefined,
  policy: Pick<Policy, "readsImages" | "measureImage" | "cutText">,
  sources: MessageSources,
): Promise<CutObservations> {
  const asked = input.request === undefined ? [] : framedMessages(input.request);
  const messages = [...(prompt ?? []), ...asked, ...input.messages];
  if (policy.readsImages !== true) return cutObservations(sources.run.plan, policy, messages);
  const shown = await withImages(input, messages, sources);
  const measured = await measuredMessages(shown, policy, sources.run.store);
  if ("reason" in measured) throw unusable(input, measured.reason);
  return cutObservations(sources.run.plan, policy, measured.messages);
}

/** An agent's messages contain their own images. */
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

/** Adds the images of the task's prompt, which is at the start of the messages. */
async function withImagesOfTask(
  { place }: GenerateTurnInput,
  source: TaskSource,
  messages: Message[],
  { run, tasks }: MessageSources,
): Promise<Message[]> {
  const task = await taskAt(run, tasks, source, place.task);
  const prompt = await promptMessages(task, run.plan.dataset.images, run.store.bytes).catch((error) => {
    throw unusable({ place }, messageOf(error), error);
  });
  return [...prompt, ...messages.slice(task.prompt.length)];
}

function unusable(
  { place }: Pick<GenerateTurnInput, "place">,
  reason: string,
  cause?: unknown,
): EverturnError {
  return new EverturnError("IMAGE_UNUSABLE", { at: place.id, tasks: "its task", reason }, { cause });
}

/** Adds the images in tools' answers. Default for `answers`: the calls of the previous turn. */
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
