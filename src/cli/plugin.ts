import type { Command } from "commander";
import { registerCheck } from "./plugin/check.ts";

/** `everturn plugin …`: plugins of one's own. */
export function registerPlugin(program: Command): void {
  const parent = program.command("plugin").description("check plugins of your own");
  for (const register of [registerCheck]) register(parent);
}
