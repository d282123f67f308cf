import type { StandardSchemaV1 } from "@standard-schema/spec";
import { messageOf } from "../../base/errors/message-of.ts";
import type { StandardSchema } from "../../contracts/definitions.ts";
import type { JsonObject } from "../../contracts/json.ts";

/** A library's schema as JSON Schema, or the reason why it can't be converted. */
export type Told = { readonly schema: JsonObject } | { readonly reason: string; readonly hint: string };

/** Whether a value is a library's schema that implements Standard Schema. */
export function speaksStandard(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return "~standard" in value;
}

function speaksJsonSchema(schema: StandardSchemaV1): schema is StandardSchema {
  return "jsonSchema" in schema["~standard"];
}

/**
 * Converts the schema of the model's input to JSON Schema (draft-07). The parsed value must be JSON too,
 * because calls are recorded as written. Unknown keys of the arguments are rejected unless the schema allows
 * them.
 */
export function jsonSchemaOf(schema: StandardSchemaV1): Told {
  const { vendor } = schema["~standard"];
  if (!speaksJsonSchema(schema)) {
    const hint =
      vendor === "valibot"
        ? "Wrap it: toStandardJsonSchema(…) of @valibot/to-json-schema."
        : `Use a version of ${vendor} that does, or write a JSON Schema.`;
    return {
      reason: `this schema of ${vendor} can't be converted to JSON Schema (Standard JSON Schema)`,
      hint,
    };
  }
  const { jsonSchema } = schema["~standard"];
  try {
    jsonSchema.output({ target: "draft-07" });
    const { $schema: _, ...told }: JsonObject = JSON.parse(
      JSON.stringify(jsonSchema.input({ target: "draft-07" })),
    );
    const isPlain = "properties" in told && !("additionalProperties" in told) && !("allOf" in told);
    return { schema: isPlain ? { ...told, additionalProperties: false } : told };
  } catch (thrown) {
    const hint =
      "Arguments are JSON: accept a text or a number, and convert it to a date or another type in execute().";
    return { reason: `it can't be a JSON Schema: ${messageOf(thrown).replace(/\.$/, "")}`, hint };
  }
}

/** Describes the problems that a library found in arguments to the model. */
export function issuesText(issues: readonly StandardSchemaV1.Issue[]): string {
  const texts = issues.map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return keys.length === 0 ? message : `${keys.join(".")}: ${message}`;
  });
  return texts.join("; ");
}
