import type { Command } from "commander";
import { registerBuild } from "./plugin/build.ts";
import { registerCheck } from "./plugin/check.ts";
import { registerNew } from "./plugin/new.ts";

/** `everturn plugin …`: creates, checks and builds plugins. */
export function registerPlugin(program: Command): void {
  const parent = program.command("plugin").description("create, build and check your own plugins");
  for (const register of [registerNew, registerBuild, registerCheck]) register(parent);
}
