import taskSchema from "../../../schemas/task.schema.json" with { type: "json" };
import { parseJsonLines } from "../../base/validation/json-lines.ts";
import { validatorOf } from "../../base/validation/validator.ts";
import { withoutParts } from "../../chat/images/content-parts.ts";
import type { Task } from "../../contracts/generated/task.ts";

const validator = validatorOf<Task>(taskSchema);

/** How rows are read. */
export interface ParseTasksOptions {
  /** What becomes of rows that are no tasks; default: they are refused. Those that are skipped are told of when the pipeline is checked. */
  badRows?: "refuse" | "skip" | undefined;
  /** What is wrong with rows that are not in the text, since their file could not give them: counted among those skipped. */
  unreadable?: readonly string[];
}

/**
 * The tasks of a JSON Lines text, one a line in verl's form (schemas/task.schema.json); a prompt may have OpenAI's content parts. `path` is for messages.
 * Throws WRONG_CONFIGURATION with line and column of each bad row; with `badRows: "skip"` only if there is no good one.
 */
export function parseTasks(text: string, path: string, options: ParseTasksOptions = {}): Task[] {
  const { badRows, unreadable = [] } = options;
  return parseJsonLines(text, path, validator(), {
    skips: badRows === "skip",
    prepare: withoutParts,
    skipped: unreadable,
  });
}
