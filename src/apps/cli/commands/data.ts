import type { Command } from "commander";
import { registerInspect } from "./data/inspect.ts";
import { registerRated } from "./data/rated.ts";
import { registerTasks } from "./data/tasks.ts";

/** `everturn data …`: the rows of a pipeline, and tasks of benchmarks. */
export function registerData(program: Command): void {
  const data = program
    .command("data")
    .description("look at the tasks of a pipeline, or make some of a benchmark");
  registerInspect(data);
  registerTasks(data);
  registerRated(data);
}
