import type { JsonObject, JsonValue } from "everturn/plugin";

/** Tests of functions: Python that calls them, or what they must return. */
export interface FunctionTests {
  kind: "functions";
  /** What the code stands on: the beginning that a task gave, with its helpers. */
  setup: string;
  text: string;
  /** The functions that the task names. */
  functions: string[];
  /** A function's name, its arguments, and what it must return. */
  pairs: JsonValue[];
}

/** Tests of whole programs: what they must print for an input. */
export interface ProgramTests {
  kind: "programs";
  language: string;
  pairs: { input: string; output: string }[];
}

/**
 * The tests of a task: what `reward_model.ground_truth` says, as Python or as JSON; or why it has none. JSON is an object of
 * HumanEval's columns (`prompt`, `entry_point`, `test`), of MBPP's (`test_list`, `test_setup_code`), of `inputs` and `outputs` with or without a `fn_name`, as APPS
 * has them, or a list of Python's assertions.
 */
export function testsOf(groundTruth: string): FunctionTests | ProgramTests | { missing: string } {
  const said = parsed(groundTruth);
  if (Array.isArray(said)) return testsOf(JSON.stringify({ test_list: said }));
  const whole: JsonObject = typeof said === "object" && said !== null ? said : { test: groundTruth };
  const { prompt, entry_point, test, test_list, test_setup_code, inputs, outputs, fn_name, language } = whole;
  const functions = [entry_point, fn_name].filter((name) => typeof name === "string");
  const common = { kind: "functions", setup: textOf(prompt), functions } as const;
  if (
    Array.isArray(inputs) &&
    Array.isArray(outputs) &&
    inputs.length === outputs.length &&
    inputs.length > 0
  ) {
    const pairs = inputs.map((input, index): [JsonValue, JsonValue] => [input, outputs[index] ?? null]);
    if (typeof fn_name === "string")
      return { ...common, text: "", pairs: pairs.map(([input, output]) => [fn_name, listOf(input), output]) };
    const texts = pairs.map(([input, output]) => ({ input: linesOf(input), output: linesOf(output) }));
    return { kind: "programs", language: textOf(language) || "python", pairs: texts };
  }
  const list = Array.isArray(test_list) ? [test_setup_code, ...test_list] : [test];
  const text = list.filter((one) => typeof one === "string").join("\n");
  if (!/\b(assert|def)\b/.test(text)) return { missing: "reward_model.ground_truth has no tests" };
  return { ...common, text, pairs: [] };
}

function parsed(text: string): JsonValue {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // Python
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: JsonValue): JsonValue[] {
  return Array.isArray(value) ? value : [value];
}

function linesOf(value: JsonValue): string {
  return listOf(value)
    .map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
    .join("\n");
}
