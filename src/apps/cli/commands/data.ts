import type { Command } from "commander";
import { registerInspect } from "./data/inspect.ts";
import { registerRated } from "./data/rated.ts";
import { registerTasks } from "./data/tasks.ts";

/** `everturn data …`: describes the rows of a pipeline, and creates tasks from benchmarks. */
export function registerData(program: Command): void {
  const data = program
    .command("data")
    .description("inspect the tasks of a pipeline, or convert the tasks of a benchmark");
  registerInspect(data);
  registerTasks(data);
  registerRated(data);
}
