import { messageOf } from "../../base/errors/message-of.ts";
import { readableImage } from "../../chat/images/message-images.ts";
import { invalid } from "../../chat/openai/endpoint-problem.ts";
import type { EndpointMessage, SentImage } from "../../chat/openai/model-request.ts";
import { refuseImages } from "../../chat/openai/read-content.ts";
import type { MessageImage } from "../../contracts/message.ts";

/** Keeps bytes by their SHA-256, which it returns. */
export type Keep = (data: Uint8Array) => Promise<string>;

/**
 * An agent's messages with their images kept by their content; without `keep`, the policy reads text alone. Throws EndpointProblem for an image that
 * can't be had, and where the policy reads none.
 */
export async function withKeptImages(
  messages: readonly EndpointMessage[],
  keep: Keep | undefined,
): Promise<EndpointMessage[]> {
  if (keep === undefined) refuseImages(messages);
  return Promise.all(
    messages.map(async ({ sentImages, ...message }) => {
      if (sentImages === undefined || keep === undefined) return message;
      return { ...message, images: await Promise.all(sentImages.map((image) => keptImage(image, keep))) };
    }),
  );
}

async function keptImage({ field, url, at }: SentImage, keep: Keep): Promise<MessageImage> {
  const problem = (reason: string) =>
    invalid(field, `is an image that can't be used: ${reason}`, "invalid_image");
  if (!url.startsWith("data:")) throw problem("it is not fetched; send a data: URL in base64");
  const { data, ...image } = await readableImage(url, undefined).catch((error) => {
    throw problem(messageOf(error));
  });
  return { sha256: await keep(data), ...image, at };
}
