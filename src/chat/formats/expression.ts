import { RE2JS } from "re2js";
import type { FormatExpression } from "../../contracts/format-name.ts";
import { isObject } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ReadAction, ReadCall } from "../../contracts/parsed-action.ts";
import { givenTwice, readJson } from "./json-text.ts";
import { scan } from "./scan.ts";
import { typedArguments } from "./typed-value.ts";
import { unreadable } from "./unreadable.ts";

/**
 * Reads actions by a regular expression with RE2's algorithm, in time linear in the text whatever the expression.
 * The policy's worker runs it; it is not part of workflow code.
 */
export function expressionReader({ pattern, function: fixed, example }: FormatExpression) {
  const compiled = RE2JS.compile(pattern);
  const groups = Object.keys(compiled.namedGroups());
  const own = groups.filter((group) => group !== "function" && group !== "arguments");

  return (text: string, tools: readonly ToolDefinition[]): ReadAction => {
    const { reasoning, rest } = scan(text, []);
    const calls: ReadCall[] = [];
    let answer = "";
    let at = 0;
    const matcher = compiled.matcher(rest);
    while (matcher.find()) {
      const group = (name: string) =>
        groups.includes(name) ? (matcher.group(name) ?? undefined) : undefined;
      answer += rest.slice(at, matcher.start());
      at = matcher.end();
      if (at > matcher.start()) calls.push(callOf(matcher.group() ?? "", group));
    }
    return { reasoning, answer: answer + rest.slice(at), calls };

    function callOf(written: string, group: (name: string) => string | undefined): ReadCall {
      const name = (group("function") ?? fixed ?? "").trim();
      if (name === "") return unreadable(written, "the tool call names no function", example);
      const json = group("arguments")?.trim() ?? "";
      const notJson = "the arguments are not a JSON object";
      const given = readJson(json === "" ? "{}" : json, notJson);
      if (given.wrong !== undefined) return unreadable(written, given.wrong, example);
      const { value } = given;
      if (!isObject(value)) return unreadable(written, notJson, example);
      const texts = own.flatMap((key) => {
        const groupText = group(key)?.trim();
        return groupText === undefined ? [] : [{ key, text: groupText }];
      });
      const typed = typedArguments(tools, name, texts);
      if (typed.wrong !== undefined) return unreadable(written, typed.wrong, example);
      const twice = Object.keys(typed.value).find((key) => Object.hasOwn(value, key));
      if (twice !== undefined) return unreadable(written, givenTwice(twice), example);
      return { name, arguments: { ...value, ...typed.value } };
    }
  };
}

/** Explains what is wrong with an expression; undefined if it is valid. */
export function expressionProblem({
  pattern,
  function: fixed,
}: FormatExpression): { key: "pattern" | "function"; reason: string; hint: string } | undefined {
  let groups: string[];
  try {
    groups = Object.keys(RE2JS.compile(pattern).namedGroups());
  } catch (error) {
    const reason = `is no regular expression: ${error instanceof Error ? error.message : error}`;
    const hint = "Write RE2's syntax, which has neither look-arounds nor references to groups.";
    return { key: "pattern", reason, hint };
  }
  if (fixed !== undefined || groups.includes("function")) return undefined;
  const hint = "Set rollout.expression.function, or write a group (?<function>…).";
  return { key: "pattern", reason: "does not say which function a match calls", hint };
}
