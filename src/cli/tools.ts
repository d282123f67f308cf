import type { Command } from "commander";
import { registerTry } from "./tools/try.ts";

/** `everturn tools …`: tools without a run. */
export function registerTools(program: Command): void {
  registerTry(program.command("tools").description("call tools by hand"));
}
