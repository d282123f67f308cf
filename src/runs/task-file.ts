import { readFile } from "node:fs/promises";
import type { Task } from "../contracts/generated/task.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { parseTasks } from "../plugins/tasks.ts";
import { displayPath } from "../validation/place.ts";
import { isSystemError } from "./files.ts";

/**
 * Reads a file of tasks to evaluate on, JSON lines in verl's form. Throws TASKS_NOT_FOUND, TASKS_EMPTY, and
 * WRONG_CONFIGURATION with line and column of each bad row.
 */
export async function readTaskFile(path: string): Promise<Task[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (!isSystemError(error, "ENOENT") && !isSystemError(error, "EISDIR")) throw error;
    throw new EverturnError("TASKS_NOT_FOUND", { file: displayPath(path) });
  }
  const tasks = parseTasks(text, path);
  if (tasks.length === 0) throw new EverturnError("TASKS_EMPTY", { file: displayPath(path) });
  return tasks;
}
