import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { Frame } from "../../contracts/generated/trajectory.ts";
import type { Message, MessageImage } from "../../contracts/message.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import { imageHeader } from "./image-header.ts";
import { readImage } from "./image-source.ts";
import { type ShownPrompt, shownPrompt } from "./shown-images.ts";

/** Kinds of images that models are sent. */
const sendable = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Bytes that an image of a prompt may have. */
const most = 20 * 2 ** 20;

/** An image of a prompt, read. */
interface ReadImage extends Omit<MessageImage, "sha256" | "at"> {
  data: Uint8Array;
}

/**
 * The images of a prompt, whose paths lie below `folder`. Throws an error that says which can't be used, and why: it is not there, has
 * more than 20 MiB, or is none of PNG, JPEG, WebP and GIF by its header.
 */
export function readShown({ images }: ShownPrompt, folder: string | undefined): Promise<ReadImage[]> {
  return Promise.all(
    images.map(async (given, index) => {
      try {
        return await readableImage(given, folder);
      } catch (error) {
        throw new Error(`image ${index + 1} can't be used: ${messageOf(error)}`, { cause: error });
      }
    }),
  );
}

/** An image as a row or a request has it. Throws an error that says why it can't be used. */
export async function readableImage(given: unknown, folder: string | undefined): Promise<ReadImage> {
  const data = await readImage(given, folder, most);
  const { mediaType, ...size } = imageHeader(data);
  if (mediaType === undefined || !sendable.includes(mediaType))
    throw new Error(`it is ${mediaType ?? "no image that is known"}, and must be PNG, JPEG, WebP or GIF`);
  return { data, mediaType, ...size };
}

/** The messages of a task's prompt with the images that they show, which are kept by their content. Throws as `readShown` does. */
export async function promptMessages(
  task: Task,
  folder: string | undefined,
  keep: (data: Uint8Array) => Promise<string>,
): Promise<Message[]> {
  const shown = shownPrompt(task);
  if (shown === undefined) return task.prompt;
  const read = await readShown(shown, folder);
  const kept = await Promise.all(
    read.map(async ({ data, ...image }) => ({ sha256: await keep(data), ...image })),
  );
  return shown.messages.map(({ message, places }) => {
    const images = kept
      .splice(0, places.length)
      .map((image, index) => ({ ...image, at: places[index] ?? 0 }));
    return images.length === 0 ? message : { ...message, images };
  });
}

/**
 * The messages of tools with the images that their calls were answered with: of each call that has some, the first message that says what it was
 * answered.
 */
export function withImagesOf(messages: readonly Message[], calls: readonly RecordedCall[]): Message[] {
  const open = calls.filter(({ media = [] }) => media.length > 0);
  return messages.map((message) => {
    const index = open.findIndex(
      ({ observation, tool }) =>
        message.role === "tool" && message.name === tool && isOf(message, observation),
    );
    const [call] = index < 0 ? [] : open.splice(index, 1);
    const images = (call?.media ?? []).flatMap(({ frames }) => frames.filter(isSendable).map(imageOf));
    return images.length === 0 ? message : { ...message, images };
  });
}

/** A turn's observations may be cut at its limit. */
function isOf({ content }: Message, observation: string): boolean {
  const [said = ""] = content.split(/\n\[\d+ characters cut\]$/);
  return said !== "" && observation.startsWith(said);
}

function isSendable({ mediaType }: Frame): boolean {
  return sendable.includes(mediaType);
}

function imageOf({ sha256, mediaType, width, height }: Frame): MessageImage {
  return defined({
    sha256,
    mediaType,
    width,
    height,
  });
}
