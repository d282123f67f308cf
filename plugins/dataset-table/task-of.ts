import type { JsonObject, JsonValue } from "everturn/plugin";

/**
 * A row as tasks are written: what is null is absent, since Parquet gives every row the columns of all; a ground truth that is no text is
 * its JSON.
 */
export function taskOf(row: JsonObject): JsonObject {
  const task = objectOf(present(row));
  const answer = objectOf(task.reward_model);
  if (answer.ground_truth === undefined || typeof answer.ground_truth === "string") return task;
  return { ...task, reward_model: { ...answer, ground_truth: JSON.stringify(answer.ground_truth) } };
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
