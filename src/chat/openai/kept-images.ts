import { messageOf } from "../../base/errors/message-of.ts";
import type { MessageImage } from "../../contracts/message.ts";
import { readableImage } from "../images/message-images.ts";
import { invalid } from "./endpoint-problem.ts";
import type { EndpointMessage, SentImage } from "./model-request.ts";
import { refuseImages } from "./read-content.ts";

/** Keeps an image's bytes and returns their SHA-256. */
export type KeepImage = (data: Uint8Array) => Promise<string>;

/** Returns the upright size of an image. Throws an error that explains why the policy can't read it. */
type MeasureImage = (
  sha256: string,
  read: () => Promise<Uint8Array>,
) => Promise<{ width: number; height: number }>;

/**
 * Keeps the images of messages, and measures them if the policy needs their sizes. Without `keep`, the policy reads only
 * text. Throws EndpointProblem for an unusable image, or for any image if the policy reads none.
 */
export async function withKeptImages(
  messages: readonly EndpointMessage[],
  keep: KeepImage | undefined,
  measure?: MeasureImage,
): Promise<EndpointMessage[]> {
  if (keep === undefined) refuseImages(messages);
  return Promise.all(
    messages.map(async ({ sentImages, ...message }) => {
      if (sentImages === undefined || keep === undefined) return message;
      const images = await Promise.all(sentImages.map((image) => keptImage(image, keep, measure)));
      return { ...message, images };
    }),
  );
}

async function keptImage(
  { field, url, at }: SentImage,
  keep: KeepImage,
  measure: MeasureImage | undefined,
): Promise<MessageImage> {
  const problem = (reason: string) =>
    invalid(field, `is an image that can't be used: ${reason}`, "invalid_image");
  if (!url.startsWith("data:")) throw problem("it is not fetched; send a data: URL in base64");
  try {
    const { data, ...image } = await readableImage(url, undefined);
    const sha256 = await keep(data);
    return { sha256, ...image, ...(await measure?.(sha256, async () => data)), at };
  } catch (error) {
    throw problem(messageOf(error));
  }
}
