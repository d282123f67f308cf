/**
 * An expression of a template. `signLast` gives the sign of a power's negative base to the result instead: in the
 * Python code that Jinja generates, -2 ** x means that if -2 is computed before x is known.
 */
export type Expression =
  | { kind: "constant"; value: null | boolean | bigint | number | string }
  | { kind: "name"; name: string }
  | { kind: "list" | "tuple"; items: Expression[] }
  | { kind: "dict"; entries: [Expression, Expression][] }
  | { kind: "attribute"; object: Expression; name: string }
  | { kind: "item"; object: Expression; key: Expression }
  | { kind: "slice"; object: Expression; bounds: (Expression | undefined)[] }
  | { kind: "call"; callee: Expression; args: Arguments }
  | { kind: "filter"; operand: Expression; filter: Filter }
  | { kind: "test"; operand: Expression; name: string; args: Arguments }
  | { kind: "not" | "negative" | "positive"; operand: Expression }
  | { kind: "and" | "or"; left: Expression; right: Expression }
  | {
      kind: "arithmetic";
      operator: ArithmeticOperator;
      left: Expression;
      right: Expression;
      signLast?: boolean;
    }
  | { kind: "concatenation"; parts: Expression[] }
  | { kind: "comparison"; first: Expression; rest: { operator: ComparisonOperator; operand: Expression }[] }
  | { kind: "conditional"; test: Expression; then: Expression; otherwise?: Expression };

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";
export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

/** Arguments of a call. `spread` and `spreadNamed` follow * and **. */
export interface Arguments {
  positional: Expression[];
  named: [string, Expression][];
  spread?: Expression;
  spreadNamed?: Expression;
}

/** One filter or a sequence of filters, without their operand. */
export interface Filter {
  name: string;
  args: Arguments;
}

/** The target of an assignment: a name, a member of a namespace, or several of them. */
export type Target =
  | { kind: "name"; name: string }
  | { kind: "member"; namespace: string; name: string }
  | { kind: "targets"; targets: Target[] };

/** A macro's parameter. */
export interface Parameter {
  name: string;
  default?: Expression;
}

/** The common part of a macro and the body of a call block. */
export interface MacroBody {
  parameters: Parameter[];
  body: Statement[];
  /** Which of the names `caller`, `kwargs` and `varargs` the body reads. */
  reads: ReadonlySet<string>;
}

export interface ForStatement {
  kind: "for";
  target: Target;
  iterable: Expression;
  test?: Expression;
  recursive: boolean;
  body: Statement[];
  otherwise: Statement[];
}

/** A statement of a template. Text and expressions between tags are outputs. */
export type Statement =
  | { kind: "text"; text: string }
  | { kind: "output"; value: Expression }
  | { kind: "if"; branches: { test: Expression; body: Statement[] }[]; otherwise: Statement[] }
  | ForStatement
  | { kind: "break" | "continue" }
  | { kind: "set"; target: Target; value: Expression }
  | { kind: "set-block"; target: Target; filters: Filter[]; body: Statement[] }
  | { kind: "with"; targets: Target[]; values: Expression[]; body: Statement[] }
  | { kind: "macro"; name: string; macro: MacroBody }
  | { kind: "call"; call: Expression & { kind: "call" }; macro: MacroBody }
  | { kind: "filter-block"; filters: Filter[]; body: Statement[] }
  | { kind: "scope"; body: Statement[] };
