import {
  type JsonObject,
  type ToolExecution,
  type ToolPlugin,
  type ToolResponse,
  videoFile,
} from "everturn/plugin";
import { planned } from "./changes.ts";
import { videoFrames } from "./frames.ts";
import { Gallery, type GalleryLimits } from "./gallery.ts";
import { askAboutImage } from "./image-child.ts";
import { Mistake } from "./mistake.ts";
import type { MadeImage } from "./protocol.ts";
import { mediaOf } from "./sources.ts";

/** A trajectory's images, and the references to its videos in the task's row. */
interface Media {
  gallery: Gallery;
  videos: unknown[];
}

/**
 * Shows and changes a task's images. The same calls make the same images, so its state is recovered by
 * replay.
 */
const imageTool: ToolPlugin<Media, ToolResponse> = {
  create({ task, config }) {
    const { images, videos } = mediaOf(task);
    return { gallery: new Gallery(images, folderOf(config)), videos };
  },

  async execute(given, execution, media) {
    try {
      return execution.function === "frames"
        ? await framesOf(given, execution, media)
        : await changed(given, execution, media);
    } catch (error) {
      if (error instanceof Mistake) return { text: `error: ${error.message}.`, error: true };
      throw error;
    }
  },

  release() {},

  async probe(config) {
    const limits = limitsOf(config);
    await askAboutImage({ data: pixel, limits }, { limits, signal: AbortSignal.timeout(limits.time * 1000) });
  },
};

export default imageTool;

/** A GIF with one pixel. */
const pixel = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

async function changed(
  given: JsonObject,
  execution: ToolExecution,
  { gallery }: Media,
): Promise<ToolResponse> {
  const { config, signal } = execution;
  const asked = { limits: limitsOf(config), signal };
  const number = Number(given.image ?? 1);
  const size = await gallery.image(number, asked);
  const limits = { minimum: Number(config.minimum), side: asked.limits.side };
  const { change, told } = planned(execution.function, given, { number, size }, limits);
  const made = await gallery.make(number, change, asked);
  return { text: told, content: [shown(made.number, made.image)] };
}

async function framesOf(
  given: JsonObject,
  execution: ToolExecution,
  { gallery, videos }: Media,
): Promise<ToolResponse> {
  const { config, signal } = execution;
  const limits = limitsOf(config);
  const [number, count] = [Number(given.video ?? 1), Number(given.count ?? 4)];
  if (number > videos.length)
    throw new Mistake(
      `there is no video ${number}: there ${videos.length === 1 ? "is 1" : `are ${videos.length}`}`,
    );
  gallery.expectRoom(count, limits);
  const moments = { count, from: Number(given.from ?? 0), to: Number(given.to ?? Number.POSITIVE_INFINITY) };
  const frames = await ofVideo(number, signal, async () => {
    const file = await videoFile(videos[number - 1], folderOf(config));
    const taken = await videoFrames(file, moments, { ...limits, signal });
    return Promise.all(
      taken.map(async ({ second, data }) => {
        const { width, height } = await askAboutImage({ data, limits }, { limits, signal });
        return { second, image: { data, width, height } };
      }),
    );
  });
  const parts = frames.map(({ image }) => shown(gallery.add(image), image));
  const seconds = frames.map(({ second }) => `${second} s`).join(", ");
  return { text: `${count === 1 ? "A frame" : "Frames"} of video ${number} at ${seconds}:`, content: parts };
}

async function ofVideo<Result>(
  number: number,
  signal: AbortSignal,
  use: () => Promise<Result>,
): Promise<Result> {
  try {
    return await use();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Mistake) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`video ${number} can't be used: ${reason}`, { cause: error });
  }
}

function shown(number: number, { data }: MadeImage) {
  return { type: "image" as const, name: `image ${number}`, data };
}

function folderOf({ folder }: JsonObject): string | undefined {
  return typeof folder === "string" ? folder : undefined;
}

function limitsOf({ pixels, side, bytes, images, time }: JsonObject): GalleryLimits {
  return {
    pixels: Number(pixels),
    side: Number(side),
    bytes: Number(bytes),
    images: Number(images),
    time: Number(time),
  };
}
