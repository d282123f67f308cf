import type { DatabaseSource } from "./outcome.ts";

type Engine = DatabaseSource["engine"];

const reading: Record<Engine, readonly string[]> = {
  sqlite: ["select", "with", "values", "explain"],
  duckdb: ["select", "with", "values", "from", "explain"],
  postgresql: ["select", "with", "values", "table", "explain"],
};
const writing = ["insert", "replace", "update", "delete", "create", "drop", "alter"];

const space = String.raw`\s+|--[^\n]*|/\*[\s\S]*?(?:\*/|$)`;
const word = String.raw`[\p{L}_][\p{L}\p{N}_$]*`;
const quoted = `"(?:[^"]|"")*"|'(?:[^']|'')*'`;
const tokens: Record<Engine, RegExp> = {
  sqlite: new RegExp(`${space}|(${quoted}|\`[^\`]*\`|\\[[^\\]]*\\]|${word}|\\S)`, "gu"),
  duckdb: new RegExp(`${space}|(${quoted}|(\\$\\w*\\$)[\\s\\S]*?\\2|${word}|\\S)`, "gu"),
  postgresql: new RegExp(
    `${space}|([eE]'(?:[^'\\\\]|\\\\[\\s\\S]|'')*'|${quoted}|(\\$\\w*\\$)[\\s\\S]*?\\2|${word}|\\S)`,
    "gu",
  ),
};

/**
 * Why a statement is not run, said to the model; undefined if it may be. It is one statement, and a query by its first
 * word, or with `write` a change of data or tables. What else it must not do is held by the database itself.
 */
export function refusal(
  sql: string,
  { engine, write }: { engine: Engine; write: boolean },
): string | undefined {
  if (sql.includes("\0")) return "the query has a NUL character.";
  const found = tokensOf(sql, engine);
  const end = found.indexOf(";");
  if (end >= 0 && end < found.length - 1)
    return "one statement at a time: there is text after the first “;”. Call again for the next one.";
  const [first = "", second = "", ...rest] = found.map((token) => token.toLowerCase());
  if (first === "" || first === ";") return "there is no statement.";
  const begin = first === "(" ? "select" : first;
  const allowed = [...reading[engine], ...(write ? writing : [])];
  if (!allowed.includes(begin)) {
    const may = write ? "queries and changes of data and tables" : "queries (SELECT, WITH, VALUES, EXPLAIN)";
    const hint = ["pragma", "show", "describe", "desc", "summarize"].includes(first)
      ? " Call with `describe` to see tables and columns."
      : "";
    return `${first.toUpperCase()} is not allowed here: only ${may} are run.${hint}`;
  }
  if (begin === "explain") {
    const explained = explainedWord(engine, [second, ...rest]);
    if (!reading[engine].includes(explained) || explained === "explain")
      return `EXPLAIN ${explained.toUpperCase()} is not allowed here: only queries are explained.`;
  }
  if (
    begin === "create" &&
    [second, ...rest].slice(0, 3).some((one) => one === "virtual" || one === "trigger")
  )
    return "CREATE VIRTUAL TABLE and CREATE TRIGGER are not allowed here.";
  return undefined;
}

/** Words, quoted texts and signs, without comments and spaces. Comments nest in DuckDB and PostgreSQL. */
export function tokensOf(sql: string, engine: Engine): string[] {
  const found: string[] = [];
  const scanner = new RegExp(tokens[engine]);
  for (let match = scanner.exec(sql); match !== null; match = scanner.exec(sql)) {
    const [text, token] = match;
    if (token !== undefined) found.push(token);
    else if (engine !== "sqlite" && text.startsWith("/*")) scanner.lastIndex = nestedEnd(sql, match.index);
  }
  return found;
}

/** Where a comment ends that begins at `start` and may hold others. */
function nestedEnd(sql: string, start: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let match = marks.exec(sql); match !== null; match = marks.exec(sql)) {
    depth += match[0] === "/*" ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return sql.length;
}

/** The word with which the statement begins that is explained. */
function explainedWord(engine: Engine, rest: readonly string[]): string {
  if (engine === "sqlite") return (rest[0] === "query" && rest[1] === "plan" ? rest[2] : rest[0]) ?? "";
  return rest[0] ?? ""; // EXPLAIN ANALYZE and its options are not let through
}
