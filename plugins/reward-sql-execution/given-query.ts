import type { TurnRecord } from "everturn/plugin";

/**
 * The query that an answer gives: its last code block, else what stands in its last `<answer>`, else what begins at a line with
 * SELECT, WITH or VALUES, and ends with the text. Undefined if there is none.
 */
export function queryOfAnswer(answer: string): string | undefined {
  const block = [...answer.matchAll(/(```|~~~)(?:\w+)?[ \t]*\r?\n([\s\S]*?)(?:\1|$)/g)].at(-1)?.[2];
  const tagged = [...answer.matchAll(/<answer>([\s\S]*?)<\/answer>/g)].at(-1)?.[1];
  const text =
    block ??
    tagged ??
    answer.match(/^[ \t]*(?:(?:answer|sql|query):[ \t]*)?((?:select|with|values)\b[\s\S]*)/im)?.[1];
  return text?.trim() || undefined;
}

/** The query of the last call of a tool that it answered; undefined if there is none. */
export function queryOfLastCall(turns: readonly TurnRecord[], tool: string): string | undefined {
  const calls = turns
    .flatMap(({ toolCalls }) => toolCalls)
    .filter((call) => call.tool === tool && call.valid);
  const queries = calls.map(({ arguments: given }) => (typeof given === "string" ? undefined : given.query));
  return queries.findLast((query) => typeof query === "string");
}
