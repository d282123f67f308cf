import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { defineDataset, defineReward, defineTool, type JsonObject, type ToolPlugin } from "everturn/plugin";
import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

const told = { name: "it", description: "It." };

test("execute's arguments have the types of a library's schema", () => {
  const { execute } = defineTool({
    ...told,
    parameters: z.object({ value: z.number(), unit: z.enum(["m", "km"]).default("m") }),
    execute(given) {
      expectTypeOf(given).toEqualTypeOf<{ value: number; unit: "m" | "km" }>();
      return given.value;
    },
  });
  expect(execute).toBeTypeOf("function");
  defineTool({
    ...told,
    parameters: toStandardJsonSchema(v.object({ value: v.number(), unit: v.optional(v.string()) })),
    execute(given) {
      expectTypeOf(given).toEqualTypeOf<{ value: number; unit?: string | undefined }>();
      return given.value;
    },
  });
  defineTool({
    ...told,
    parameters: type({ value: "number", "unit?": "'m' | 'km'" }),
    execute(given) {
      expectTypeOf(given).toEqualTypeOf<{ value: number; unit?: "m" | "km" }>();
      return given.value;
    },
  });
});

test("execute's arguments have the types of a JSON Schema, and the configuration too", () => {
  const tool = defineTool({
    ...told,
    parameters: {
      type: "object",
      additionalProperties: false,
      required: ["value"],
      properties: {
        value: { type: "number" },
        unit: { enum: ["m", "km"] },
        digits: { type: "integer", default: 2 },
        tags: { type: "array", items: { type: "string" } },
      },
    },
    config: {
      type: "object",
      additionalProperties: false,
      required: ["path"],
      properties: { path: { type: "string", "x-path": "file" }, limit: { type: "integer", default: 3 } },
    },
    execute(given, { config, key, signal }) {
      expectTypeOf(given).branded.toEqualTypeOf<{
        value: number;
        unit?: "m" | "km";
        digits?: number; // the model may leave it out, and nobody fills it in
        tags?: string[];
      }>();
      expectTypeOf(config).branded.toEqualTypeOf<{ path: string; limit: number }>();
      expectTypeOf(key).toEqualTypeOf<string>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      return given.value;
    },
  });
  expectTypeOf(tool).toEqualTypeOf<ToolPlugin<undefined>>();
});

test("state is what create() makes, and a configuration without a schema is any", () => {
  const tool = defineTool({
    ...told,
    parameters: { type: "object" },
    create({ config }) {
      expectTypeOf(config).toEqualTypeOf<JsonObject>();
      return { count: 0 };
    },
    execute(_given, _execution, state) {
      expectTypeOf(state).toEqualTypeOf<{ count: number }>();
      return ++state.count;
    },
  });
  expectTypeOf(tool).toEqualTypeOf<ToolPlugin<{ count: number }>>();
});

test("a reward and a data set have the types of their configuration", () => {
  const config = z.object({ within: z.number() });
  defineReward({
    config,
    score({ config: given, answer }) {
      expectTypeOf(given).toEqualTypeOf<{ within: number }>();
      expectTypeOf(answer).toEqualTypeOf<string>();
      return { reward: 1, success: true };
    },
  });
  defineDataset({
    config,
    load(given) {
      expectTypeOf(given).toEqualTypeOf<{ within: number }>();
      return [];
    },
  });
});

test("what does not fit does not compile", () => {
  const parameters = z.object({ value: z.number() });
  // @ts-expect-error: a value is a number
  defineTool({ ...told, parameters, execute: ({ value }: { value: string }) => value });
  // @ts-expect-error: there is no such argument
  defineTool({ ...told, parameters, execute: ({ other }) => other });
  const json = { type: "object", required: ["value"], properties: { value: { type: "number" } } } as const;
  // @ts-expect-error: a value of a JSON Schema is a number too
  defineTool({ ...told, parameters: json, execute: ({ value }) => value.length });
  // @ts-expect-error: a tool without execute
  defineTool({ ...told, parameters });
  // @ts-expect-error: what it answers is text, or JSON
  defineTool({ ...told, parameters, execute: () => new Map() });
  // @ts-expect-error: this schema can't be told as JSON Schema
  defineTool({ ...told, parameters: v.object({ value: v.number() }), execute: () => 1 });
  // @ts-expect-error: a score has a reward
  defineReward({ score: () => ({ success: true }) });
  // @ts-expect-error: an unknown word
  defineReward({ timeOut: "1s", score: () => ({ reward: 1, success: true }) });
});
