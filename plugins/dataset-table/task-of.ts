import type { JsonObject, JsonValue } from "everturn/plugin";

/**
 * Normalizes a row to a task. Null values are dropped, because Parquet gives every row all columns. A ground
 * truth that is not a text becomes JSON. Images become base64.
 */
export function taskOf(row: JsonObject): JsonObject {
  const task = withImages(objectOf(present(row)));
  const answer = objectOf(task.reward_model);
  if (answer.ground_truth === undefined || typeof answer.ground_truth === "string") return task;
  return { ...task, reward_model: { ...answer, ground_truth: JSON.stringify(answer.ground_truth) } };
}

/** Converts Parquet's images, in Hugging Face's form `{ bytes, path }`. */
function withImages(task: JsonObject): JsonObject {
  const { images } = task;
  if (!Array.isArray(images)) return task;
  return {
    ...task,
    images: images.map((image) => (isBytes(image) ? { ...image, bytes: inBase64(image.bytes) } : image)),
  };
}

function isBytes(image: JsonValue): image is { bytes: string } {
  return typeof objectOf(image).bytes === "string";
}

/**
 * Converts bytes from DuckDB's text form, `\\x89PNG`, to base64. Text without a backslash is already base64.
 */
function inBase64(bytes: string): string {
  if (!bytes.includes("\\x")) return bytes;
  const latin = bytes.replace(/\\x([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(latin, "latin1").toString("base64");
}

function present(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(present);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(entries.map(([name, one]) => [name, present(one)]));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
