import { statSync } from "node:fs";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { displayPath } from "../../base/validation/place.ts";
import { readText } from "../../base/validation/read-text.ts";
import type { Task } from "../../contracts/generated/task.ts";
import { parseTasks } from "./parse-tasks.ts";

/**
 * Reads a file of tasks to evaluate on, JSON Lines in verl's form. Throws TASKS_NOT_FOUND, TASKS_EMPTY, and
 * WRONG_CONFIGURATION with line and column of each bad row.
 */
export async function readTaskFile(path: string): Promise<Task[]> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new EverturnError("TASKS_NOT_FOUND", { file: displayPath(path) });
  }
  const tasks = parseTasks(readText(path), path);
  if (tasks.length === 0) throw new EverturnError("TASKS_EMPTY", { file: displayPath(path) });
  return tasks;
}
