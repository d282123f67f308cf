import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { PluginSource } from "../../contracts/plan.ts";
import type { Told } from "../registry/standard-schema.ts";
import type { FileReference } from "./reference.ts";

/** The input of the thread that inspects a module. */
export interface InspectionStart extends FileReference {
  /** The kind of plugin that it must define. Default: any kind. */
  kind?: PluginManifest["kind"] | undefined;
}

/** A problem with a module. Without a place, it applies to the export that the reference names. */
export interface Finding {
  file?: string;
  line?: number;
  column?: number;
  reason: string;
  hint: string;
}

/** The definition in a module's export, as data. */
export interface Definition {
  kind: PluginManifest["kind"];
  /** Its properties other than functions and schemas. */
  said: JsonObject;
  /** The names of its functions. */
  functions: string[];
  /**
   * Its schemas by name: `parameters`, `config`, and `functions/<name>/parameters` in a tool with several
   * functions.
   */
  schemas: Record<string, Told>;
  positions?: PluginSource["positions"];
}

/** The result of inspecting a module. */
export interface Inspection {
  found: { definition: Definition } | { finding: Finding };
  /** The loaded modules, except those of packages and of Everturn. */
  files: string[];
}
