import { type Task, toolKwargs } from "everturn/plugin";

/** What a task brings, in its order, as its row names it. */
interface TaskMedia {
  images: unknown[];
  videos: unknown[];
}

/** The columns `images` and `videos`; without them, what verl's zoom tool is created with: `tools_kwargs.….create_kwargs.image`. */
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
