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
const tokenPatterns: Record<Engine, RegExp> = {
  sqlite: new RegExp(`${space}|(${quoted}|\`[^\`]*\`|\\[[^\\]]*\\]|${word}|\\S)`, "gu"),
  duckdb: new RegExp(`${space}|(${quoted}|(\\$\\w*\\$)[\\s\\S]*?\\2|${word}|\\S)`, "gu"),
  postgresql: new RegExp(
    `${space}|([eE]'(?:[^'\\\\]|\\\\[\\s\\S]|'')*'|${quoted}|(\\$\\w*\\$)[\\s\\S]*?\\2|${word}|\\S)`,
    "gu",
  ),
};

/** The statement to run, or a message to the model that explains why none is run. */
type ReadStatement = { statement: string; refused?: undefined } | { refused: string };

/**
 * Returns the only statement of a text, without empty statements and comments around it. Its first word must be that
 * of a query, or with `write` that of a change to data or tables. The database itself enforces all other
 * restrictions.
 */
export function readStatement(
  sql: string,
  { engine, write }: { engine: Engine; write: boolean },
): ReadStatement {
  if (sql.includes("\0")) return { refused: "the query has a NUL character." };
  const found = placedTokens(sql, engine);
  const isReal = ({ token }: PlacedToken) => token !== ";";
  const begin = found.find(isReal);
  const end = found.findLast(isReal);
  if (begin === undefined || end === undefined) return { refused: "there is no statement." };
  const tokens = found.slice(found.indexOf(begin), found.indexOf(end) + 1);
  if (!tokens.every(isReal))
    return {
      refused: "one statement at a time: there is text after the first “;”. Call again for the next one.",
    };
  const refused = refusal(
    tokens.map(({ token }) => token.toLowerCase()),
    { engine, write },
  );
  return refused === undefined
    ? { statement: sql.slice(begin.start, end.start + end.token.length) }
    : { refused };
}

/** Explains why the statement of these tokens may not run; undefined if it may. */
function refusal(
  [first = "", second = "", ...rest]: readonly string[],
  { engine, write }: { engine: Engine; write: boolean },
): string | undefined {
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

/** Splits a text into words, quoted texts and signs, without comments and spaces. */
export function tokensOf(sql: string, engine: Engine): string[] {
  return placedTokens(sql, engine).map(({ token }) => token);
}

interface PlacedToken {
  token: string;
  start: number;
}

/** Tokens with their offsets. Comments nest in DuckDB and PostgreSQL. */
function placedTokens(sql: string, engine: Engine): PlacedToken[] {
  const found: PlacedToken[] = [];
  const scanner = new RegExp(tokenPatterns[engine]);
  for (let match = scanner.exec(sql); match !== null; match = scanner.exec(sql)) {
    const [text, token] = match;
    if (token !== undefined) found.push({ token, start: match.index });
    else if (engine !== "sqlite" && text.startsWith("/*")) scanner.lastIndex = nestedEnd(sql, match.index);
  }
  return found;
}

/** Where the comment that begins at `start` ends, nested comments included. */
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

/** The first word of the statement that an EXPLAIN explains. */
function explainedWord(engine: Engine, rest: readonly string[]): string {
  if (engine === "sqlite") return (rest[0] === "query" && rest[1] === "plan" ? rest[2] : rest[0]) ?? "";
  return rest[0] ?? ""; // EXPLAIN ANALYZE and its options are not allowed
}
