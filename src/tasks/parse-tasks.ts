import taskSchema from "../../schemas/task.schema.json" with { type: "json" };
import type { Task } from "../contracts/generated/task.ts";
import { createAjv } from "../validation/ajv.ts";
import { parseJsonLines } from "../validation/json-lines.ts";

const validate = createAjv().compile<Task>(taskSchema);

/**
 * The tasks of a JSON Lines text, one a line in verl's form (schemas/task.schema.json). `path` is for messages.
 * Throws WRONG_CONFIGURATION with line and column of each bad row.
 */
export function parseTasks(text: string, path: string): Task[] {
  return parseJsonLines(text, path, validate);
}
