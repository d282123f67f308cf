import type { Command } from "commander";
import { registerToolsImport } from "./tools/import.ts";
import { registerServe } from "./tools/serve.ts";
import { registerTry } from "./tools/try.ts";

/** `everturn tools …`: uses tools without a run. */
export function registerTools(program: Command): void {
  const tools = program
    .command("tools")
    .description("call tools by hand, serve them to other programs, or import tools from verl");
  registerTry(tools);
  registerServe(tools);
  registerToolsImport(tools);
}
