import type { DuckDBConnection } from "@duckdb/node-api";

/** Why a text is not a condition on trajectories, according to DuckDB's own parser; undefined if it is one. */
export async function wrongCondition(
  connection: DuckDBConnection,
  condition: string,
): Promise<string | undefined> {
  const before = "SELECT 1 FROM trajectories WHERE (\n";
  const read = await connection.runAndReadAll("SELECT json_serialize_sql(CAST($1 AS VARCHAR))", [
    `${before}${condition}\n)`,
  ]);
  const parsed: Parsed = JSON.parse(String(read.getRows()[0]?.[0]));
  if (parsed.error) {
    const offset = Number(parsed.position) - before.length;
    const where = Number.isNaN(offset) ? "" : `, ${placeIn(condition, offset)}`;
    return `${parsed.error_message}${where}`;
  }
  const [statement, ...others] = parsed.statements ?? [];
  const node = statement?.node;
  const isAlone =
    others.length === 0 &&
    node?.type === "SELECT_NODE" &&
    node.from_table?.type === "BASE_TABLE" &&
    [node.group_expressions, node.modifiers].every((list) => list?.length === 0) &&
    [node.having, node.qualify, node.sample].every((part) => part === null);
  return isAlone ? undefined : "it continues after the condition: write only what follows WHERE";
}

/** The place of a problem in a condition. */
function placeIn(condition: string, offset: number): string {
  if (offset >= condition.trimEnd().length) return "at its end";
  const lines = condition.slice(0, Math.max(0, offset)).split("\n");
  return `at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** DuckDB's reason why it can't run a condition, with the place in the condition instead of a drawing. */
export function reasonOf(message: string): string {
  const drawn = /\s*LINE (\d+): (.*)\n( *)\^\s*$/.exec(message);
  if (drawn === null) return message.trim();
  const [whole, line = "", text = "", indent = ""] = drawn;
  const column = indent.length + 1 - `LINE ${line}: `.length;
  const place = text.startsWith("...") ? `near “${text}”` : `at line ${Number(line) - 1}, column ${column}`;
  return `${message.slice(0, -whole.length)}, ${place}`;
}

/** DuckDB's description of a parsed statement. */
interface Parsed {
  error: boolean;
  error_message?: string;
  position?: string;
  statements?: { node: Node }[];
}

interface Node {
  type: string;
  from_table?: { type: string };
  group_expressions?: unknown[];
  modifiers?: unknown[];
  having?: unknown;
  qualify?: unknown;
  sample?: unknown;
}
