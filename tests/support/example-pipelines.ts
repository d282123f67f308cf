import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder of the example pipelines. */
export const examples = join(import.meta.dirname, "..", "..", "pipelines");

/** The files of the examples that need no environment's server, which takes minutes to install. */
export const serverless = globSync("*.yaml", { cwd: examples }).filter(
  (name) => !/environment-(openenv|nemo-gym|verifiers)/.test(readFileSync(join(examples, name), "utf8")),
);
