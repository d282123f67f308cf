import { readFile } from "node:fs/promises";
import demonstrationSchema from "../../schemas/demonstration.schema.json" with { type: "json" };
import type { Demonstration } from "../contracts/generated/demonstration.ts";
import { createAjv } from "../validation/ajv.ts";
import { parseJsonLines } from "../validation/json-lines.ts";

const validate = createAjv().compile<Demonstration>(demonstrationSchema);

/** Reads a demonstrations file (JSON Lines). Throws WRONG_CONFIGURATION with line and column of each bad row. */
export async function readDemonstrations(path: string): Promise<Demonstration[]> {
  return parseJsonLines(await readFile(path, "utf8"), path, validate);
}
