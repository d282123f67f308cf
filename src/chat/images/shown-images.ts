import type { Task } from "../../contracts/generated/task.ts";
import type { Message } from "../../contracts/message.ts";

/** Where a prompt shows the next image of its row's column `images`, as verl's data has it. */
const placeholder = "<image>";

/** A prompt whose images are told apart from its text. */
export interface ShownPrompt {
  /** Its messages without placeholders, each with where its images stand in its content, in characters. */
  messages: { message: Message; places: number[] }[];
  /** The images, in their order, as the row names them. */
  images: unknown[];
}

/**
 * The images that a task's prompt shows; undefined if it shows none, as one without images does, or one whose images are its tools' alone.
 * Throws an error that says so if it shows more than the row has, or fewer.
 */
export function shownPrompt({
  prompt,
  images,
}: Pick<Task, "prompt"> & { images?: unknown }): ShownPrompt | undefined {
  const given = images === undefined || images === null ? [] : Array.isArray(images) ? images : [images];
  if (given.length === 0) return undefined;
  const messages = prompt.map((message) => {
    const [first = "", ...rest] = message.content.split(placeholder);
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
  throw new Error(`its prompt has ${placeholder} ${count} times, and its images are ${given.length}`);
}
