import type { Frame, Trajectory } from "../../contracts/generated/trajectory.ts";
import type { Store } from "../../run/store/store.ts";
import type { Comparison } from "./comparison.ts";

/** Bytes that an image in the report may have, and all of them together. */
const largestImage = 256 * 1024;
const allImages = 4 * 1024 * 1024;

/** The images of the examples' observations that a report has room for, as data URLs by their SHA-256; of a video the first frame. */
export async function exampleImages(
  store: Pick<Store, "readBytes">,
  comparison: Comparison | undefined,
): Promise<ReadonlyMap<string, string>> {
  const images = new Map<string, string>();
  let room = allImages;
  for (const { sha256, mediaType, bytes } of (comparison?.examples ?? []).flatMap(firstFrames)) {
    if (images.has(sha256) || bytes > Math.min(largestImage, room)) continue;
    const content = await store.readBytes(sha256);
    if (content === undefined) continue; // it stays a name; the ledger tells that it is gone
    images.set(sha256, `data:${mediaType};base64,${Buffer.from(content).toString("base64")}`);
    room -= bytes;
  }
  return images;
}

function firstFrames({ before, after }: Record<"before" | "after", Trajectory>): Frame[] {
  const calls = [before, after].flatMap(({ turns }) => turns.flatMap(({ toolCalls }) => toolCalls));
  return calls.flatMap(({ media = [] }) => media.flatMap(({ frames }) => frames.slice(0, 1)));
}
