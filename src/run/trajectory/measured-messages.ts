import { messageOf } from "../../base/errors/message-of.ts";
import type { Message, MessageImage } from "../../contracts/message.ts";
import type { Policy } from "../../contracts/policy.ts";
import type { Store } from "../store/store.ts";
import { readStoredImage } from "../store/stored-image.ts";

/** Messages whose images the policy can read, or why it can't read one. */
type Measured = { messages: Message[] } | { reason: string };

/**
 * Measures the images of messages with a policy that needs their sizes. An image of a tool that the policy can't read is
 * left out, and a line of the tool's message gives the reason, because a tool may return anything. Other such images
 * are a problem of the task or of the request.
 */
export async function measuredMessages(
  messages: readonly Message[],
  { measureImage }: Pick<Policy, "measureImage">,
  store: Pick<Store, "readBytes">,
): Promise<Measured> {
  if (measureImage === undefined) return { messages: [...messages] };
  const measured: Message[] = [];
  for (const message of messages) {
    const images: MessageImage[] = [];
    let { content } = message;
    for (const [index, image] of (message.images ?? []).entries()) {
      const { sha256 } = image;
      const bytes = await readStoredImage(store, sha256);
      try {
        images.push({ ...image, ...(await measureImage(sha256, async () => bytes)) });
      } catch (error) {
        const reason = messageOf(error);
        if (message.role !== "tool") return { reason: `image ${index + 1} can't be used: ${reason}` };
        content += `\n[image ${index + 1} of this answer can't be shown: ${reason}]`;
      }
    }
    const { images: _, ...rest } = message;
    measured.push(images.length === 0 ? { ...rest, content } : { ...rest, content, images });
  }
  return { messages: measured };
}
