import { messagesWithImages, readShown } from "../../../chat/images/message-images.ts";
import { type ShownPrompt, shownPrompt } from "../../../chat/images/shown-images.ts";
import type { Task } from "../../../contracts/generated/task.ts";
import type { Message, MessageImage } from "../../../contracts/message.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { loadPolicy } from "../../../plugin/registry/registry.ts";
import type { RunData, SizedImages } from "./preflight.ts";

/** The number of rows of a set whose images are read before a run. */
export const looked = 200;

/** Rows whose images, if any, are not shown to the policy. */
const withoutImages: SizedImages = { prompt: ({ prompt }) => prompt, chat: (chat) => chat };

/**
 * Reads the sizes of images in rows, from the headers of the files. Images of rows after the first 200 of a set, and
 * unusable ones, which another check reports, count like the largest that was read. Decoding could still find another
 * size.
 */
export async function sizedImages(
  { policy, dataset }: Pick<Plan, "policy" | "dataset">,
  { train = [], validation = [], taskFile = [], demonstrations = [], examples }: RunData,
): Promise<SizedImages> {
  const traits = (await loadPolicy(policy)).traits?.(structuredClone(policy.config));
  if (traits?.readsImages !== true) return withoutImages;
  const known = new Map<object, Message[]>();
  let largest: MessageImage | undefined;

  const look = async (row: object, shown: ShownPrompt | undefined) => {
    const read = shown && (await readShown(shown, dataset.images).catch(() => undefined));
    if (!read) return;
    const images = read.map(({ data: _, ...image }): MessageImage => ({ sha256: "", ...image }));
    for (const image of images) if (!largest || pixelsOf(image) > pixelsOf(largest)) largest = image;
    known.set(row, messagesWithImages(shown, images));
  };
  for (const tasks of [train, validation, taskFile])
    for (const task of tasks.slice(0, looked)) await look(task, shownIn(task));
  for (const chats of [demonstrations, examples?.learned ?? [], examples?.rejected ?? []])
    for (const chat of chats.slice(0, looked)) await look(chat, chat.shown);

  const sized = (row: object, shown: ShownPrompt | undefined): Message[] | undefined =>
    known.get(row) ??
    (shown && largest && messagesWithImages(shown, Array(shown.images.length).fill(largest)));
  return {
    prompt: (task) => sized(task, shownIn(task)) ?? task.prompt,
    chat(chat) {
      const messages = sized(chat, chat.shown);
      return messages ? { ...chat, messages } : chat;
    },
  };
}

/** Returns what a task shows; undefined if it shows no images, or others than it has, which another check reports. */
function shownIn(task: Task): ShownPrompt | undefined {
  try {
    return shownPrompt(task);
  } catch {
    return undefined;
  }
}

function pixelsOf({ width = 0, height = 0 }: MessageImage): number {
  return width * height;
}
