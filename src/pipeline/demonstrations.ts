import demonstrationSchema from "../../schemas/demonstration.schema.json" with { type: "json" };
import type { Demonstration } from "../contracts/generated/demonstration.ts";
import { createAjv } from "../validation/ajv.ts";
import { parseJsonLines } from "../validation/json-lines.ts";
import { readText } from "../validation/read-text.ts";

const validate = createAjv().compile<Demonstration>(demonstrationSchema);

/** Reads a demonstrations file (JSON Lines). Throws WRONG_CONFIGURATION with line and column of each bad row. */
export async function readDemonstrations(path: string): Promise<Demonstration[]> {
  return parseJsonLines(readText(path), path, validate);
}
