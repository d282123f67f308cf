import type { Command } from "commander";
import { registerServe } from "./tools/serve.ts";
import { registerTry } from "./tools/try.ts";

/** `everturn tools …`: tools without a run. */
export function registerTools(program: Command): void {
  const tools = program.command("tools").description("call tools by hand, or serve them to others");
  registerTry(tools);
  registerServe(tools);
}
