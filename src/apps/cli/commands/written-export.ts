import { resolve } from "node:path";
import { type ExportOptions, exportModel } from "../../../engine/models/policy/export-model.ts";
import type { FloatType } from "../../../engine/models/weights/float-types.ts";
import { writeNewFolder } from "./used-target.ts";

/** The weight types of exported policies, by their common names. */
export const dtypes = { float32: "F32", float16: "F16", bfloat16: "BF16" } as const satisfies Record<
  string,
  FloatType
>;

/**
 * Writes a policy to a GGUF file or a new folder, whole or not at all. Throws TARGET_NOT_EMPTY and the errors of the
 * formats.
 */
export async function writeExport(policy: string, target: string, options: ExportOptions): Promise<void> {
  const path = resolve(target);
  if (target.endsWith(".gguf")) await exportModel(policy, path, options);
  else await writeNewFolder(path, (temporary) => exportModel(policy, temporary, options));
}
