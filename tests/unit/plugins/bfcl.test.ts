import { expect, test } from "vitest";
import { formats } from "../../../src/chat/formats/formats.ts";
import { parseAction } from "../../../src/chat/formats/parse-action.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../src/contracts/json.ts";
import { argumentsValidator } from "../../../src/plugin/registry/validate-arguments.ts";
import { acceptedArguments, bfclTasks, translated } from "../../support/bfcl.ts";

/** Tasks whose accepted calls break their own function's schema, and how. */
const contradictions = new Map([
  ["simple_python_17", "a required argument may be left out"],
  ["simple_python_149", "lists of texts where texts belong"],
  ["simple_python_307", "true where a text belongs"],
  ["simple_python_358", "a value that is not of the enum"],
  ["parallel_88", "a required argument may be left out"],
  ["parallel_152", "null where a number belongs"],
]);

const allFunctions = bfclTasks().flatMap(({ id, functions, accepted }) =>
  functions.map((one) => {
    const schema = translated(one.parameters);
    const calls = accepted.flatMap(({ [one.name]: values }) => (values ? acceptedArguments(values) : []));
    return { id, name: one.name, schema, calls, validate: argumentsValidator(schema) };
  }),
);

/** A call as a model writes it, and what is said of its arguments. */
function answerTo(name: string, given: JsonObject, validate: (given: JsonObject) => string | undefined) {
  const [call] = parseAction(`<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`).calls;
  if (call === undefined || call.problem !== undefined)
    throw new Error(`${name} was not read: ${call?.problem}`);
  return validate(call.arguments);
}

test("every call that BFCL accepts fits its function's schema", () => {
  const calls = allFunctions.flatMap(({ id, name, calls: some, validate }) =>
    some.map((given) => ({ id, given, problem: answerTo(name, given, validate) })),
  );
  const refused = calls.filter(({ problem }) => problem !== undefined);
  expect(calls.length).toBeGreaterThan(1900);
  expect(new Set(refused.map(({ id }) => id))).toEqual(new Set(contradictions.keys()));
});

test("calls made wrong are refused with a message that names the argument", () => {
  let made = 0;
  for (const { id, name, schema, calls, validate } of allFunctions) {
    if (contradictions.has(id)) continue;
    // In irrelevance no call is accepted: there only what is missing or unknown is made wrong.
    for (const [argument, given] of wrongCalls(schema, calls[0] ?? {})) {
      made++;
      const problem = answerTo(name, given, validate);
      expect(problem, `${id} ${JSON.stringify(given)}`).toContain(argument);
    }
  }
  expect(made).toBeGreaterThan(3500);
});

test("every task's calls, written in each format, are read again as they were", () => {
  const tasks = bfclTasks().filter(({ id, accepted }) => accepted.length > 0 && !contradictions.has(id));
  expect(tasks.length).toBe(600 - contradictions.size);
  for (const { id, functions, accepted } of tasks) {
    const tools = functions.map((one) => ({ ...one, parameters: translated(one.parameters) }));
    const calls = accepted.flatMap((one) =>
      Object.entries(one).map(([name, values]) => ({ name, arguments: acceptedArguments(values)[0] ?? {} })),
    );
    for (const { name, parse, render } of formats) {
      const text = render(calls, tools);
      const read = parse(`First this.\n${text}`, { tools });
      expect(
        read.calls.map(({ id: _, ...call }) => call),
        `${id} ${name}: ${text}`,
      ).toEqual(calls);
      expect(read.answer).toBe("First this.");
    }
  }
});

/** Calls that are made of a right one, each with the name of the argument that is wrong. */
function wrongCalls(schema: JsonObject, right: JsonObject): [string, JsonObject][] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const missing = required.map((name): [string, JsonObject] => {
    const { [name]: _, ...rest } = right;
    return [name, rest];
  });
  const unknown: [string, JsonObject] = ["no_such_argument", { ...right, no_such_argument: 1 }];
  const changed = Object.keys(right).flatMap((name) => {
    const property = properties[name];
    const values = isObject(property) ? wrongValues(property) : [];
    return values.map((value): [string, JsonObject] => [name, { ...right, [name]: value }]);
  });
  return [...missing, unknown, ...changed];
}

/** Values that a schema refuses. */
function wrongValues(schema: JsonObject): JsonValue[] {
  const { type, items } = schema;
  const ofList = isObject(items) ? wrongValues(items).map((value) => [value]) : [];
  const ofEnum = schema.enum === undefined ? [] : ["no such value"];
  if (type === "string") return [17, ["a"], null, ...ofEnum];
  if (type === "integer") return ["seventeen", 1.5, true];
  if (type === "number") return ["seventeen", null];
  if (type === "boolean") return ["yes", 1];
  if (type === "array") return ["a, b", { a: 1 }, ...ofList];
  return type === "object" ? ["a", [1]] : [];
}
