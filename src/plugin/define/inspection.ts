import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { PluginSource } from "../../contracts/plan.ts";
import type { Told } from "../registry/standard-schema.ts";
import type { FileReference } from "./reference.ts";

/** What the thread that looks at a module is started with. */
export interface InspectionStart extends FileReference {
  /** Which kind it must define; whatever it defines if absent. */
  kind?: PluginManifest["kind"] | undefined;
}

/** Something is wrong with a module; without a place, it is said of what the reference names. */
export interface Finding {
  file?: string;
  line?: number;
  column?: number;
  reason: string;
  hint: string;
}

/** What a module's export defines, as data. */
export interface Definition {
  kind: PluginManifest["kind"];
  /** What it says beside its functions and schemas. */
  said: JsonObject;
  /** The names of its functions. */
  functions: string[];
  /** Its schemas by their names, `parameters`, `config`, and of several functions `functions/<name>/parameters`. */
  schemas: Record<string, Told>;
  positions?: PluginSource["positions"];
}

/** What came of looking at a module. */
export interface Inspection {
  found: { definition: Definition } | { finding: Finding };
  /** The modules that were loaded: those of packages and of Everturn aside. */
  files: string[];
}
