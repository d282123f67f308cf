import type { TurnRecord } from "everturn/plugin";

/** Code between fences, on one line or several. No part backtracks over a line twice. */
const fenced = /```(\w+)[ \t]([^`\n]+)```|(```|~~~)(?=[ \t]*(\w*))[^`~\n]*\n([\s\S]*?)(?:\3|$)/g;
const tags = ["sql", "sqlite", "duckdb", "postgresql", "postgres", "psql", "mysql"];

/**
 * Returns the query that an answer gives: its last code block whose fence names SQL, or else its last block,
 * or else the text in its last `<answer>`, or else the text from a line that begins with SELECT, WITH or
 * VALUES. Undefined if it has none.
 */
export function queryOfAnswer(answer: string): string | undefined {
  const blocks = [...answer.matchAll(fenced)].map(([, inlineTag, inline, , tag, lines]) => ({
    tag: (inlineTag ?? tag ?? "").toLowerCase(),
    query: inline ?? lines,
  }));
  const block = (blocks.findLast(({ tag }) => tags.includes(tag)) ?? blocks.at(-1))?.query;
  const tagged = [...answer.matchAll(/<answer>([\s\S]*?)<\/answer>/g)].at(-1)?.[1];
  const text =
    block ??
    tagged ??
    answer.match(/^[ \t]*(?:(?:answer|sql|query):[ \t]*)?((?:select|with|values)\b[\s\S]*)/im)?.[1];
  return text?.trim() || undefined;
}

/** The query of a tool's last answered call. Undefined if there is none. */
export function queryOfLastCall(turns: readonly TurnRecord[], tool: string): string | undefined {
  const calls = turns
    .flatMap(({ toolCalls }) => toolCalls)
    .filter((call) => call.tool === tool && call.valid);
  const queries = calls.map(({ arguments: given }) => (typeof given === "string" ? undefined : given.query));
  return queries.findLast((query) => typeof query === "string");
}
