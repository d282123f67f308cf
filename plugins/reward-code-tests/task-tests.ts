import { InexactNumberError, type JsonObject, type JsonValue, parseExactJson } from "everturn/plugin";

/** Tests of functions: Python code that calls them, or their expected return values. */
export interface FunctionTests {
  kind: "functions";
  /** Code that the answer builds on: the beginning that the task gave, with its helpers. */
  setup: string;
  text: string;
  /** The functions that the task names. */
  functions: string[];
  /**
   * The function's name, `inputs` and `outputs` as JSON, unchanged from the task, so that Python reads its
   * numbers.
   */
  pairs: string;
}

/** Tests of whole programs, with the expected output for each input. */
export interface ProgramTests {
  kind: "programs";
  language: string;
  pairs: { input: string; output: string }[];
}

/**
 * Returns the tests in a task's `reward_model.ground_truth`, or the reason why it has none. The ground truth
 * is Python or JSON. JSON may be an object with HumanEval's columns (`prompt`, `entry_point`, `test`), with
 * MBPP's (`test_list`, `test_setup_code`), with `inputs` and `outputs` and optionally `fn_name` as in APPS,
 * or a list of Python assertions.
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
    if (typeof fn_name === "string")
      return { ...common, setup: `${usualImports}\n${common.setup}`, text: "", pairs: groundTruth };
    const inexact = inexactNumberOf(groundTruth);
    if (inexact !== undefined) return { missing: `reward_model.ground_truth: ${inexact}` };
    const pairs = inputs.map((input, index) => ({
      input: linesOf(input),
      output: linesOf(outputs[index] ?? null),
    }));
    return { kind: "programs", language: textOf(language) || "python", pairs };
  }
  const list = Array.isArray(test_list) ? [test_setup_code, ...test_list] : [test];
  const text = list.filter((one) => typeof one === "string").join("\n");
  if (!/\b(assert|def)\b/.test(text)) return { missing: "reward_model.ground_truth has no tests" };
  return { ...common, text, pairs: "" };
}

/** The modules that LeetCode imports before it runs a solution. */
const usualImports = `import bisect, collections, functools, heapq, itertools, math, operator, random, re, string, sys
from bisect import *
from collections import *
from functools import *
from heapq import *
from itertools import *
from math import ceil, comb, floor, gcd, inf, sqrt
from typing import *`;

function inexactNumberOf(text: string): string | undefined {
  try {
    parseExactJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof InexactNumberError) return error.message;
    throw error;
  }
}

function parsed(text: string): JsonValue {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // the text is Python
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
