import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { Frame } from "../../contracts/generated/trajectory.ts";
import type { Message, MessageImage } from "../../contracts/message.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import { imageHeader } from "./image-header.ts";
import { readImage } from "./image-source.ts";
import { type ShownPrompt, shownPrompt } from "./shown-images.ts";

/** Image types that models accept. */
const sendable = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** The most bytes that an image of a prompt may have. */
const most = 20 * 2 ** 20;

/** An image of a prompt with its content. */
interface ReadImage extends Omit<MessageImage, "sha256" | "at"> {
  data: Uint8Array;
}

/**
 * Reads the images of a prompt. Their paths are inside `folder`. Throws an error that explains which image is
 * unusable and why: it is missing, has more than 20 MiB, or its header is not that of a PNG, JPEG, WebP or GIF.
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

/** Reads an image that a row or a request contains. Throws an error that explains why it is unusable. */
export async function readableImage(given: unknown, folder: string | undefined): Promise<ReadImage> {
  const data = await readImage(given, folder, most);
  const { mediaType, ...size } = imageHeader(data);
  if (mediaType === undefined || !sendable.includes(mediaType))
    throw new Error(`it is ${mediaType ?? "no image that is known"}, and must be PNG, JPEG, WebP or GIF`);
  return { data, mediaType, ...size };
}

/**
 * The messages of a task's prompt with their images, which are stored by content. Throws the same errors as
 * `readShown`.
 */
export async function promptMessages(
  task: Task,
  folder: string | undefined,
  keep: (data: Uint8Array) => Promise<string>,
): Promise<Message[]> {
  const shown = shownPrompt(task);
  return shown === undefined ? task.prompt : shownMessages(shown, folder, keep);
}

/** The messages of a prompt with its images, which are stored by content. Throws the same errors as `readShown`. */
export async function shownMessages(
  shown: ShownPrompt,
  folder: string | undefined,
  keep: (data: Uint8Array) => Promise<string>,
): Promise<Message[]> {
  const read = await readShown(shown, folder);
  const kept = await Promise.all(
    read.map(async ({ data, ...image }) => ({ sha256: await keep(data), ...image })),
  );
  return messagesWithImages(shown, kept);
}

/** The messages of a prompt with these images at their places. */
export function messagesWithImages({ messages }: ShownPrompt, images: readonly MessageImage[]): Message[] {
  const left = [...images];
  return messages.map(({ message, places }) => {
    const own = left.splice(0, places.length).map((image, index) => ({ ...image, at: places[index] ?? 0 }));
    return own.length === 0 ? message : { ...message, images: own };
  });
}

/**
 * Adds the images in answers of tools to the tools' messages: those of a call go to the first message with its
 * answer.
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

/** Whether a message contains a call's observation, which a turn's limit may have cut. */
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
