import { statSync } from "node:fs";
import type { Task } from "../contracts/generated/task.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { displayPath } from "../validation/place.ts";
import { readText } from "../validation/read-text.ts";
import { parseTasks } from "./parse-tasks.ts";

/**
 * Reads a file of tasks to evaluate on, JSON lines in verl's form. Throws TASKS_NOT_FOUND, TASKS_EMPTY, and
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
