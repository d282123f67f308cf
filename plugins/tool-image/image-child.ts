import { extname, join } from "node:path";
import { helperProcesses } from "everturn/plugin";
import type { ImageRequest, MadeImage } from "./protocol.ts";

/** The maximum MiB of a process. */
const memory = 1536;

const ask = helperProcesses<ImageRequest, MadeImage>(
  join(import.meta.dirname, `image-process${extname(import.meta.filename)}`),
  { memory },
);

/**
 * Asks a separate process about an image. The process is killed after `time` seconds, and when the signal
 * aborts. Throws an error that explains why the image can't be used, or the signal's reason.
 */
export function askAboutImage(
  request: ImageRequest,
  { limits: { time }, signal }: { limits: { time: number }; signal: AbortSignal },
): Promise<MadeImage> {
  return ask(request, { time, signal });
}
