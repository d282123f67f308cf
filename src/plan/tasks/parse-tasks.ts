import taskSchema from "../../../schemas/task.schema.json" with { type: "json" };
import { parseJsonLines } from "../../base/validation/json-lines.ts";
import { validatorOf } from "../../base/validation/validator.ts";
import { withoutParts } from "../../chat/images/content-parts.ts";
import type { Task } from "../../contracts/generated/task.ts";

const validator = validatorOf<Task>(taskSchema);

/** Options for reading rows. */
export interface ParseTasksOptions {
  /**
   * Whether invalid rows are refused (the default) or skipped. The check of the pipeline reports skipped
   * rows.
   */
  badRows?: "refuse" | "skip" | undefined;
  /**
   * The problems of rows that are not in the text because they could not be read from their file. They count
   * as skipped.
   */
  unreadable?: readonly string[];
}

/**
 * Parses the tasks of a JSON Lines text, one per line in verl's form (schemas/task.schema.json). A prompt may
 * have OpenAI's content parts. `path` appears in messages. Throws WRONG_CONFIGURATION with line and column of
 * each bad row. With `badRows: "skip"`, throws only if no row is valid.
 */
export function parseTasks(text: string, path: string, options: ParseTasksOptions = {}): Task[] {
  const { badRows, unreadable = [] } = options;
  return parseJsonLines(text, path, validator(), {
    skips: badRows === "skip",
    prepare: withoutParts,
    skipped: unreadable,
  });
}
