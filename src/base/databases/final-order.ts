import type { DatabaseSource } from "./outcome.ts";
import { tokensOf } from "./statement.ts";

/**
 * Whether an ORDER BY orders a query's rows: one of the query itself, not of a subquery, a window or an aggregate. Comments, quoted
 * texts and what follows the ORDER BY make no difference.
 */
export function endsOrdered(sql: string, engine: DatabaseSource["engine"]): boolean {
  const all = tokensOf(sql, engine).map((token) => token.toLowerCase());
  const tokens = all.filter((token) => token !== ";"); // of the empty statements around the only one
  const query = withoutParentheses(tokens);
  const depths = depthsOf(query);
  return query.some((token, at) => token === "order" && query[at + 1] === "by" && depths[at] === 0);
}

/** The tokens between the parentheses around a whole query: ((SELECT …)) is SELECT …. */
function withoutParentheses(tokens: readonly string[]): readonly string[] {
  const isWrapped = tokens[0] === "(" && depthsOf(tokens).indexOf(0) === tokens.length - 1;
  return isWrapped ? withoutParentheses(tokens.slice(1, -1)) : tokens;
}

/** In how many parentheses each token stands; a closing one stands outside its own. */
function depthsOf(tokens: readonly string[]): number[] {
  let depth = 0;
  return tokens.map((token) => {
    if (token === "(") depth++;
    if (token === ")") depth--;
    return depth;
  });
}
