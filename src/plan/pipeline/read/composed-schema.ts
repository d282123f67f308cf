import pipelineSchema from "../../../../schemas/pipeline.schema.json" with { type: "json" };
import type { PluginManifest } from "../../../contracts/generated/plugin.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../contracts/json.ts";

/** A plugin that a pipeline may name by `reference`, its name or a path. */
export interface NamedPlugin {
  readonly reference: string;
  readonly manifest: PluginManifest;
}

type Kind = PluginManifest["kind"];

/** The definition for the use of each kind of plugin. The pipeline's schema shares them between kinds. */
const useOf: Record<
  Kind,
  "PluginUse" | "LoopUse" | "TrainerUse" | "ToolUse" | "RewardUse" | "EnvironmentUse"
> = {
  policy: "PluginUse",
  dataset: "PluginUse",
  loop: "LoopUse",
  loss: "PluginUse",
  tool: "ToolUse",
  reward: "RewardUse",
  trainer: "TrainerUse",
  tracker: "PluginUse",
  environment: "EnvironmentUse",
};

/**
 * Returns the schema of pipelines in which each of `plugins` has its configuration checked and described as
 * in its manifest. Editors propose their names. Other plugins may be named too, but their configuration is
 * not checked.
 */
export function composedSchema(plugins: readonly NamedPlugin[]): JsonObject {
  const { $id: _, properties, definitions: shared, required, ...schema } = pipelineSchema;
  const slot = (kind: Kind, node: JsonObject): JsonObject => ({
    ...node,
    $ref: `#/definitions/${kind}UseOrName`,
  });
  const definitions: JsonObject = { ...shared };
  for (const [kind, base] of Object.entries(useOf)) {
    const own = plugins.filter(({ manifest }) => manifest.kind === kind);
    const names = own.map((plugin) => plugin.reference);
    const use: JsonObject = shared[base];
    const uses = isObject(use.properties) ? use.properties : {};
    const reference: JsonObject = { ...described(uses.plugin), ...proposing(names) };
    const configurations = own.map(({ reference: name, manifest }): JsonObject => {
      const config = configOf(name, manifest, definitions);
      return {
        if: { properties: { plugin: { const: name } }, required: ["plugin"] },
        // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
        then: { properties: { config } },
      };
    });
    const { required: wanted = [], ...useOnly } = use;
    definitions[`${kind}Use`] = {
      ...useOnly,
      if: { required: ["use"] }, // the block provides the missing keys
      else: { required: wanted },
      properties: {
        ...uses,
        use: blockName,
        plugin: reference,
        ...(base === "TrainerUse" ? { loss: slot("loss", shared.TrainerUse.properties.loss) } : {}),
      },
      ...(configurations.length === 0 ? {} : { allOf: configurations }),
    };
    definitions[`${kind}UseOrName`] = {
      ...described(shared[`${base}OrName`]),
      if: { type: "string" },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
      then: { ...described(uses.plugin), ...proposing(names) },
      else: { $ref: `#/definitions/${kind}Use` },
    };
  }
  definitions.RewardList = { ...shared.RewardList, items: { $ref: "#/definitions/rewardUseOrName" } };
  definitions.Rewards = { ...shared.Rewards, else: { $ref: "#/definitions/rewardUseOrName" } };
  const { train, validation } = properties.dataset.properties;
  return {
    ...schema,
    if: { anyOf: [{ required: ["extends"] }, { required: ["environment"] }] }, // which may provide the missing keys
    else: { required },
    properties: {
      ...Object.fromEntries(Object.entries(properties).map(([key, node]) => [key, withBlock(node)])),
      policy: slot("policy", properties.policy),
      environment: slot("environment", properties.environment),
      dataset: {
        ...properties.dataset,
        properties: {
          ...properties.dataset.properties,
          train: slot("dataset", train),
          validation: slot("dataset", validation),
        },
      },
      tools: { ...properties.tools, items: { $ref: "#/definitions/toolUseOrName" } },
      loop: slot("loop", properties.loop),
      loops: { ...properties.loops, additionalProperties: { $ref: "#/definitions/loopUseOrName" } },
      trainer: slot("trainer", properties.trainer),
      trackers: { ...properties.trackers, items: { $ref: "#/definitions/trackerUseOrName" } },
    },
    definitions,
  };
}

/** For editors, before blocks are filled in. */
const blockName = { title: "Block", description: "The block that this one begins with.", type: "string" };

/** Settings that may use a block. */
function withBlock(node: JsonObject): JsonObject {
  const { properties, additionalProperties } = node;
  if (!isObject(properties) || additionalProperties !== false) return node;
  return { ...node, properties: { ...properties, use: blockName } };
}

/** Any text. Editors propose `names`. */
function proposing(names: readonly string[]): JsonObject {
  return { anyOf: [...(names.length === 0 ? [] : [{ enum: [...names] }]), { type: "string", minLength: 1 }] };
}

function described(node: unknown): JsonObject {
  if (typeof node !== "object" || node === null) return {};
  const { title = "", description = "" } = { title: "", description: "", ...node };
  return { title, description };
}

/**
 * A plugin's configuration schema with titles throughout. Adds the plugin's definitions to `definitions`,
 * prefixed with its name.
 */
function configOf(name: string, { config }: PluginManifest, definitions: JsonObject): JsonValue {
  const title = `Configuration of ${name}`;
  if (config === undefined) {
    return { title, description: "It takes none.", type: "object", additionalProperties: false };
  }
  const { definitions: own, $schema: _, $id: __, ...schema } = config;
  const prefix = `${name.replace(/[^\w-]+/g, "_")}.`;
  for (const [key, node] of Object.entries(isObject(own) ? own : {})) {
    definitions[`${prefix}${key}`] = titled(renamed(node, prefix), key, name);
  }
  return titled(renamed(schema, prefix), title, name);
}

/** Rewrites references to a plugin's own definitions to names that begin with `prefix`. */
function renamed(node: JsonValue, prefix: string): JsonValue {
  if (Array.isArray(node)) return node.map((item) => renamed(item, prefix));
  if (!isObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === "$ref" && typeof value === "string"
        ? value.replace("#/definitions/", `#/definitions/${prefix}`)
        : renamed(value, prefix),
    ]),
  );
}

/** Adds missing titles and descriptions to a schema and its properties. */
function titled(node: JsonValue, title: string, name: string): JsonValue {
  if (!isObject(node) || "$ref" in node) return node;
  const { properties } = node;
  const completed = { title, description: `Of ${name}.`, ...node };
  if (!isObject(properties)) return completed;
  const named = Object.entries(properties).map(([key, value]) => [key, titled(value, key, name)]);
  return { ...completed, properties: Object.fromEntries(named) };
}
