import { basename, extname } from "node:path";
import { suggestion } from "../../base/validation/nearest.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { foreignTool } from "../registry/foreign/foreign-tool.ts";
import { jsonSchemaOf, speaksStandard, type Told } from "../registry/standard-schema.ts";
import { inferFunction } from "./infer-function.ts";
import type { Definition, Finding, Inspection, InspectionStart } from "./inspection.ts";
import { definedKind, functionsKey } from "./mark.ts";

type Kind = PluginManifest["kind"];

const helpers: Record<Kind, string> = {
  tool: "defineTool",
  reward: "defineReward",
  dataset: "defineDataset",
  loop: "defineLoop",
  loss: "defineLoss",
  policy: "definePolicy",
  trainer: "defineTrainer",
  tracker: "defineTracker",
  environment: "an environment package",
};

/**
 * Returns the definition that a loaded module exports, as data, or the reason why it is not a definition of
 * this kind.
 */
export function definitionOf(module: Record<string, unknown>, start: InspectionStart): Inspection["found"] {
  const { name } = start;
  const kind = start.kind ?? definedKind(module[name]) ?? "tool";
  const refuse = (reason: string, hint: string): { finding: Finding } => ({ finding: { reason, hint } });
  const form = `${name === "default" ? "export default" : `export const ${name} =`} ${helpers[kind]}({ … })`;
  if (kind === "loop" && name !== "default")
    return refuse(
      "a loop is a module's default export: the module becomes workflow code",
      `Write \`${helpers[kind]}\` there.`,
    );
  const value = module[name];
  if (value === undefined) {
    const others = Object.keys(module).filter((other) => module[other] !== undefined && other !== "default");
    const reason = name === "default" ? "it has no default export" : `it has no export “${name}”`;
    const known = suggestion(name, others, "Its exports");
    const named = others.map((other) => `${basename(start.path)}#${other}`).join(", ");
    const hint =
      name === "default" && others.length > 0 ? `Or name another of its exports: ${named}.` : known;
    return refuse(reason, `Write \`${form}\`. ${hint}`.trim());
  }
  const actual = definedKind(value);
  const foreign = actual === undefined && kind === "tool" ? foreignTool(value, nameOf(start)) : undefined;
  if (foreign !== undefined) return { definition: dataOf("tool", foreign) };
  if (actual === undefined && kind === "tool" && typeof value === "function") return inferFunction(start);
  if (actual === undefined) return refuse(`${exportText(name)} is not a ${kind}`, `Write \`${form}\`.`);
  if (actual !== kind) return refuse(`this needs a ${kind}, but it is a ${actual}`, `Write \`${form}\`.`);
  return { definition: dataOf(kind, Object(value)) };
}

/** The name of a tool that sets none: that of its export, else of its file. */
function nameOf({ path, name }: InspectionStart): string {
  return name === "default" ? basename(path, extname(path)) : name;
}

function exportText(name: string): string {
  return name === "default" ? "its default export" : `its export “${name}”`;
}

function dataOf(kind: Kind, value: object): Definition {
  const data = plainData(kind, value);
  const defined: unknown = Reflect.get(value, functionsKey);
  if (typeof defined !== "object" || defined === null) return data;
  const functions: JsonObject = {};
  const schemas = { ...data.schemas };
  for (const [name, one] of Object.entries(defined)) {
    const own = plainData(kind, Object(one));
    functions[name] = own.said;
    for (const [key, schema] of Object.entries(own.schemas)) schemas[`functions/${name}/${key}`] = schema;
  }
  return { ...data, said: { ...data.said, functions }, schemas };
}

function plainData(kind: Kind, value: object): Definition {
  const entries = Object.entries(value);
  const functions = entries.flatMap(([key, one]) =>
    typeof one === "function" && !speaksStandard(one) ? [key] : [],
  );
  const schemas = Object.fromEntries(
    entries.flatMap(([key, one]): [string, Told][] =>
      speaksStandard(one) ? [[key, jsonSchemaOf(one)]] : [],
    ),
  );
  const rest = entries.filter(([key]) => !functions.includes(key) && !(key in schemas));
  return { kind, said: JSON.parse(JSON.stringify(Object.fromEntries(rest))), functions, schemas };
}
