import type { Command } from "commander";
import { registerInspect } from "./data/inspect.ts";

/** `everturn data …`: the rows of a pipeline. */
export function registerData(program: Command): void {
  registerInspect(program.command("data").description("look at the tasks of a pipeline"));
}
