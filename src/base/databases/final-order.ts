import type { DatabaseSource } from "./outcome.ts";
import { tokensOf } from "./statement.ts";

/**
 * Whether the query's own ORDER BY orders its rows, as opposed to one in a subquery, a window or an aggregate.
 * Comments, quoted texts and clauses after the ORDER BY make no difference.
 */
export function endsOrdered(sql: string, engine: DatabaseSource["engine"]): boolean {
  const all = tokensOf(sql, engine).map((token) => token.toLowerCase());
  const tokens = all.filter((token) => token !== ";"); // drops empty statements around the only one
  const query = withoutParentheses(tokens);
  const depths = depthsOf(query);
  return query.some((token, at) => token === "order" && query[at + 1] === "by" && depths[at] === 0);
}

/** The tokens inside the parentheses around a whole query: ((SELECT …)) becomes SELECT …. */
function withoutParentheses(tokens: readonly string[]): readonly string[] {
  const isWrapped = tokens[0] === "(" && depthsOf(tokens).indexOf(0) === tokens.length - 1;
  return isWrapped ? withoutParentheses(tokens.slice(1, -1)) : tokens;
}

/** Each token's depth in parentheses. A closing parenthesis has the depth outside of its own pair. */
function depthsOf(tokens: readonly string[]): number[] {
  let depth = 0;
  return tokens.map((token) => {
    if (token === "(") depth++;
    if (token === ")") depth--;
    return depth;
  });
}
