import type { Command } from "commander";
import { registerCodecServe } from "./codec/serve.ts";

/** `everturn codec …`: reads encrypted payloads. */
export function registerCodec(program: Command): void {
  const codec = program.command("codec").description("decrypt payloads for Temporal's UI and command line");
  registerCodecServe(codec);
}
