import type { Message } from "../../contracts/message.ts";

/** The placeholder for the next image of a row's column `images`, as in verl's data. */
export const imagePlaceholder = "<image>";

/** That of the next video of the column `videos`. */
export const videoPlaceholder = "<video>";

/** A prompt with its images separated from its text. */
export interface ShownPrompt {
  /** The messages without placeholders. `places` are the offsets of the images in the content, in characters. */
  messages: { message: Message; places: number[] }[];
  /** The images in order, as the row names them. */
  images: unknown[];
}

/**
 * The images that a task's prompt shows; undefined if it shows none, because the row has none or only its tools use
 * them. Throws an error if the prompt shows more or fewer images than the row has, or a video.
 */
export function shownPrompt({
  prompt,
  images,
  videos,
}: {
  prompt: readonly Message[];
  images?: unknown;
  videos?: unknown;
}): ShownPrompt | undefined {
  if (listOf(videos).length > 0 && prompt.some(({ content }) => content.includes(videoPlaceholder)))
    throw new Error("its prompt shows a video, and policies read only images: show frames of it instead");
  const given = listOf(images);
  if (given.length === 0) return undefined;
  const messages = prompt.map((message) => {
    const [first = "", ...rest] = message.content.split(imagePlaceholder);
    let content = first;
    const places = rest.map((text) => {
      const place = content.length;
      content += text;
      return place;
    });
    return { message: { ...message, content }, places };
  });
  const count = messages.reduce((sum, { places }) => sum + places.length, 0);
  if (count === 0) return undefined;
  if (count === given.length) return { messages, images: given };
  throw new Error(`its prompt has ${imagePlaceholder} ${count} times, and its images are ${given.length}`);
}

function listOf(column: unknown): unknown[] {
  if (column === undefined || column === null) return [];
  return Array.isArray(column) ? column : [column];
}
