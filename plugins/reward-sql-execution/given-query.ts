import type { TurnRecord } from "everturn/plugin";

/** Code between fences, on one line or several. Nothing in it backtracks over a line twice. */
const fenced = /```(\w+)[ \t]([^`\n]+)```|(```|~~~)(?=[ \t]*(\w*))[^`~\n]*\n([\s\S]*?)(?:\3|$)/g;
const tags = ["sql", "sqlite", "duckdb", "postgresql", "postgres", "psql", "mysql"];

/**
 * The query that an answer gives: of its code blocks the last one whose fence names SQL, else the last one; else what stands in its last
 * `<answer>`, else what begins at a line with SELECT, WITH or VALUES, and ends with the text. Undefined if there is none.
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

/** The query of the last call of a tool that it answered; undefined if there is none. */
export function queryOfLastCall(turns: readonly TurnRecord[], tool: string): string | undefined {
  const calls = turns
    .flatMap(({ toolCalls }) => toolCalls)
    .filter((call) => call.tool === tool && call.valid);
  const queries = calls.map(({ arguments: given }) => (typeof given === "string" ? undefined : given.query));
  return queries.findLast((query) => typeof query === "string");
}
