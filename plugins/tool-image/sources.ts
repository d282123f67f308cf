import { type Task, toolKwargs } from "everturn/plugin";

/** The references in a task's row to its images and videos, in order. */
interface TaskMedia {
  images: unknown[];
  videos: unknown[];
}

/**
 * Reads the columns `images` and `videos`. Without them, reads the image for verl's zoom tool:
 * `tools_kwargs.….create_kwargs.image`.
 */
export function mediaOf(task: Task): TaskMedia {
  const { images, videos } = task;
  const found = { images: listOf(images), videos: listOf(videos) };
  if (found.images.length > 0) return found;
  const created = ["image", "image_zoom_in_tool"].map((name) => toolKwargs(task, name).create_kwargs.image);
  return { ...found, images: created.flatMap(listOf) };
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
