import type { Command } from "commander";
import { registerBuild } from "./plugin/build.ts";
import { registerCheck } from "./plugin/check.ts";
import { registerNew } from "./plugin/new.ts";

/** `everturn plugin …`: plugins of one's own. */
export function registerPlugin(program: Command): void {
  const parent = program.command("plugin").description("write, build and check plugins of your own");
  for (const register of [registerNew, registerBuild, registerCheck]) register(parent);
}
