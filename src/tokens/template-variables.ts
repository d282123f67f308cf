import { parsedTemplate } from "./chat-template.ts";

type Node = Record<string, unknown>;
type Names = ReadonlySet<string>;

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** Names that a template has by itself, or from whoever renders it. */
const given = [
  ...["messages", "tools", "add_generation_prompt", "bos_token", "eos_token", "pad_token", "unk_token"],
  ...["true", "false", "none", "True", "False", "None", "loop", "strftime_now", "raise_exception"],
];

/**
 * The variables that a chat template (Jinja) reads and doesn't set itself, such as enable_thinking, sorted: what can be
 * said to it beside messages and tools. Members of others, such as
 * message.role, are none. Throws CHAT_TEMPLATE_FAILED.
 */
export function templateVariables(source: string): string[] {
  const free = new Set<string>();
  walkBody(parsedTemplate(source).parsed.body, new Set(given), free);
  return [...free].sort();
}

/** Finds what statements read of names that are not `bound`; what is bound after them. */
function walkBody(body: unknown, bound: Names, free: Set<string>): Names {
  let known = bound;
  for (const statement of Array.isArray(body) ? body : []) known = walkStatement(statement, known, free);
  return known;
}

function walkStatement(statement: unknown, bound: Names, free: Set<string>): Names {
  if (!isNode(statement)) return bound;
  const { type, body } = statement;
  if (type === "Set") {
    walk(statement.value, bound, free);
    walkBody(body, bound, free);
    return new Set([...bound, ...namesIn(statement.assignee)]);
  }
  if (type === "If") {
    walk(statement.test, bound, free);
    const [then, otherwise] = [body, statement.alternate].map((branch) => walkBody(branch, bound, free));
    return new Set([...(then ?? [])].filter((name) => otherwise?.has(name)));
  }
  if (type === "For") {
    walk(statement.iterable, bound, free);
    walkBody(body, new Set([...bound, ...namesIn(statement.loopvar)]), free);
    walkBody(statement.defaultBlock, bound, free);
    return bound;
  }
  if (type === "Macro") {
    const macro = namesIn(statement.name);
    const args = Array.isArray(statement.args) ? statement.args.flatMap(namesIn) : [];
    walkBody(body, new Set([...bound, ...macro, "caller", ...args]), free);
    return new Set([...bound, ...macro]);
  }
  walk(statement, bound, free);
  return bound;
}

function walk(node: unknown, bound: Names, free: Set<string>): void {
  if (Array.isArray(node)) for (const child of node) walk(child, bound, free);
  else if (node instanceof Map) for (const entry of node) walk(entry, bound, free);
  else if (isNode(node)) walkExpression(node, bound, free);
}

function walkExpression(node: Node, bound: Names, free: Set<string>): void {
  const { type, value } = node;
  if (type === "Identifier" && !bound.has(String(value))) free.add(String(value));
  for (const [key, child] of Object.entries(node)) if (!isName(node, key)) walk(child, bound, free);
}

/** Whether a part of an expression is an operator, or the name of a function, a filter, a test, an argument or a member. */
function isName({ type, computed, callee }: Node, part: string): boolean {
  if (type === "MemberExpression") return part === "property" && computed !== true;
  if (type === "CallExpression") return part === "callee" && isNode(callee) && callee.type === "Identifier";
  return namesOf[String(type)] === part;
}

const namesOf: Record<string, string> = {
  BinaryExpression: "operator",
  UnaryExpression: "operator",
  FilterExpression: "filter",
  FilterStatement: "filter",
  TestExpression: "test",
  KeywordArgumentExpression: "key",
};

/** The names that are set: one, or those of a tuple. `namespace.member = …` sets none. */
function namesIn(target: unknown): string[] {
  if (!isNode(target)) return [];
  const { type, value, key } = target;
  if (type === "Identifier") return [String(value)];
  if (type === "KeywordArgumentExpression") return namesIn(key);
  return type === "TupleLiteral" && Array.isArray(value) ? value.flatMap(namesIn) : [];
}
