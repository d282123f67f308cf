import { isObject } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ReadAction, ReadCall } from "../../contracts/parsed-action.ts";
import { modelFormat } from "./action-format.ts";
import { jsonEnd, jsonText, readJson, spacesEnd } from "./json-text.ts";
import { type Marks, type Part, scan } from "./scan.ts";
import { textCall, textFunctions } from "./text-functions.ts";
import { unreadable } from "./unreadable.ts";

const example = "Action: NAME\nAction Input: {…}";
const observation = "\nObservation:";
/** A thought's mark inside an input is part of the input. */
const inputs: readonly Marks[] = [{ open: "Action Input:", read: readInput, bare: true }];

/**
 * Lines with labels: a thought, an action and its input, or the final answer. Observations that a model makes up are
 * ignored.
 */
export const react = modelFormat({
  name: "react",
  models: "any model instructed to write ReAct's lines",
  example,
  stopTexts: () => [observation],
  read: readLines,
  render: (calls) =>
    calls.map(({ name, arguments: given }) => `Action: ${name}\nAction Input: ${jsonText(given)}`).join("\n"),
});

function readLines(text: string, tools: readonly ToolDefinition[]): ReadAction {
  const { reasoning, rest } = scan(text, inputs);
  const made = rest.indexOf(observation);
  const whole = made < 0 ? rest : rest.slice(0, made);
  const thoughts = [reasoning];
  const said: string[] = [];
  const calls: ReadCall[] = [];
  let action: string | undefined;
  const unanswered = () => {
    if (action !== undefined) calls.push(callTo(action, "", tools));
    action = undefined;
  };
  for (const { label, body } of partsOf(whole)) {
    if (label !== "Action Input") unanswered();
    if (label === "Action") action = body.trim();
    else if (label === "Thought") thoughts.push(body.trim());
    else if (label !== "Action Input") said.push(body.trim());
    else if (action === undefined)
      calls.push(unreadable(body, "there is an input without an action", example));
    else {
      calls.push(callTo(action, body.trim(), tools));
      action = undefined;
    }
  }
  unanswered();
  return { reasoning: joined(thoughts), answer: joined(said), calls };
}

function readInput(text: string, at: number): Part | undefined {
  if (at > 0 && text[at - 1] !== "\n") return undefined;
  const from = spacesEnd(text, at + "Action Input:".length);
  const line = text.indexOf("\n", from);
  const end = text[from] === "{" ? jsonEnd(text, from) : line < 0 ? text.length : line;
  return end < 0 ? undefined : { from, end, next: end, closed: true, isRest: true };
}

/** Splits a text at the labels that begin its lines. The first part may have no label. */
function partsOf(text: string): { label: string; body: string }[] {
  const labels = [...text.matchAll(/^(Thought|Action Input|Action|Final Answer):/gm)];
  const first = labels[0]?.index ?? text.length;
  return [
    { label: "", body: text.slice(0, first) },
    ...labels.map((label, index) => ({
      label: label[1] ?? "",
      body: text.slice(label.index + label[0].length, labels[index + 1]?.index),
    })),
  ];
}

/** An input that is not an object becomes the argument of a function with a single text argument. */
function callTo(name: string, input: string, tools: readonly ToolDefinition[]): ReadCall {
  if (!/^[^\s(){}]+$/.test(name)) return unreadable(name, "the action is no function's name", example);
  const body = withoutFence(input);
  const notJson = `the input of ${name} is not a JSON object`;
  const { value, wrong } = readJson(body === "" ? "{}" : body, notJson);
  if (isObject(value)) return { name, arguments: value };
  const called = textFunctions(tools).find(({ spelled }) => spelled === name);
  if (called !== undefined && !body.startsWith("{"))
    return textCall(called, typeof value === "string" ? value : body);
  return unreadable(input, wrong ?? notJson, example);
}

function withoutFence(text: string): string {
  const [opening] = /^```(?:json)?/.exec(text) ?? [];
  return opening !== undefined && text.endsWith("```") ? text.slice(opening.length, -3).trim() : text;
}

function joined(parts: string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}
