import type { Expression, MacroBody, Statement, Target } from "../../chat/jinja/nodes.ts";
import { compiledTemplate } from "./chat-template.ts";

type Names = ReadonlySet<string>;

/** Names that Jinja or the renderer defines. */
const given = [
  "messages",
  "tools",
  "documents",
  "add_generation_prompt",
  "bos_token",
  "eos_token",
  "pad_token",
  "unk_token",
  "loop",
  "strftime_now",
  "raise_exception",
];

/**
 * Returns the sorted variables that a chat template (Jinja) reads and doesn't set itself, such as enable_thinking.
 * Members of other values, such as message.role, don't count. Throws CHAT_TEMPLATE_FAILED.
 */
export function templateVariables(source: string): string[] {
  const free = new Set<string>();
  walkBody(compiledTemplate(source).statements, new Set(given), free);
  return [...free].sort();
}

/** Adds the names that statements read and that are not `bound` to `free`. Returns the names bound after them. */
function walkBody(body: readonly Statement[], bound: Names, free: Set<string>): Names {
  let known = bound;
  for (const statement of body) known = walkStatement(statement, known, free);
  return known;
}

function walkStatement(statement: Statement, bound: Names, free: Set<string>): Names {
  switch (statement.kind) {
    case "set":
      walk(statement.value, bound, free);
      return withTargets(bound, [statement.target]);
    case "set-block":
      walk(statement.filters, bound, free);
      walkBody(statement.body, bound, free);
      return withTargets(bound, [statement.target]);
    case "if": {
      for (const { test } of statement.branches) walk(test, bound, free);
      const bodies = [...statement.branches.map(({ body }) => body), statement.otherwise];
      const [first, ...others] = bodies.map((body) => walkBody(body, bound, free));
      return new Set([...(first ?? [])].filter((name) => others.every((names) => names.has(name))));
    }
    case "for": {
      walk(statement.iterable, bound, free);
      const inner = withTargets(bound, [statement.target]);
      walk(statement.test, inner, free);
      walkBody(statement.body, inner, free);
      walkBody(statement.otherwise, bound, free);
      return bound;
    }
    case "with":
      walk(statement.values, bound, free);
      walkBody(statement.body, withTargets(bound, statement.targets), free);
      return bound;
    case "macro": {
      const known = new Set([...bound, statement.name]);
      walkMacro(statement.macro, known, free);
      return known;
    }
    case "call":
      walk(statement.call, bound, free);
      walkMacro(statement.macro, bound, free);
      return bound;
    case "filter-block":
      walk(statement.filters, bound, free);
      walkBody(statement.body, bound, free);
      return bound;
    case "scope":
      walkBody(statement.body, bound, free);
      return bound;
    case "output":
      walk(statement.value, bound, free);
      return bound;
    default:
      return bound;
  }
}

function walkMacro({ parameters, body }: MacroBody, bound: Names, free: Set<string>): void {
  walk(
    parameters.map((parameter) => parameter.default),
    bound,
    free,
  );
  const own = ["caller", "kwargs", "varargs", ...parameters.map(({ name }) => name)];
  walkBody(body, new Set([...bound, ...own]), free);
}

/** Adds the names that expressions read. Names of called functions don't count. */
function walk(part: unknown, bound: Names, free: Set<string>): void {
  if (Array.isArray(part)) for (const child of part) walk(child, bound, free);
  else if (isExpression(part)) {
    if (part.kind === "name" && !bound.has(part.name)) free.add(part.name);
    for (const [key, child] of Object.entries(part))
      if (key !== "callee" || !isExpression(child) || child.kind !== "name") walk(child, bound, free);
  } else if (typeof part === "object" && part !== null) walk(Object.values(part), bound, free);
}

function isExpression(part: unknown): part is Expression {
  return typeof part === "object" && part !== null && "kind" in part;
}

function withTargets(bound: Names, targets: readonly Target[]): Names {
  return new Set([...bound, ...targets.flatMap(namesIn)]);
}

/** Returns the names that are set: one, or those of a tuple. `namespace.member = …` sets none. */
function namesIn(target: Target): string[] {
  if (target.kind === "name") return [target.name];
  return target.kind === "targets" ? target.targets.flatMap(namesIn) : [];
}
