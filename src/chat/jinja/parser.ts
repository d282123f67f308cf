import { defined } from "../../base/records/defined.ts";
import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { ExpressionParser } from "./expression-parser.ts";
import { tokenize } from "./lexer.ts";
import type { Expression, Filter, MacroBody, Parameter, Statement, Target } from "./nodes.ts";

/**
 * Parses a template's statements. Throws JinjaError if it is invalid, and UnsupportedJinjaError for parts that can't
 * be exact here.
 */
export function parseTemplate(source: string): Statement[] {
  return new TemplateParser(tokenize(source)).parse();
}

const elsewhere = ["block", "extends", "include", "import", "from", "autoescape"];

/** Parses statements by Jinja's grammar, including loop controls and transformers's `generation`. */
class TemplateParser extends ExpressionParser {
  parse(): Statement[] {
    const { body } = this.statements([]);
    this.checkNames();
    return body;
  }

  /** Statements up to a block that begins with one of `ends`, and that name. */
  private statements(ends: readonly string[]): { body: Statement[]; end: string } {
    const body: Statement[] = [];
    for (;;) {
      const token = this.current;
      if (token.type === "end") {
        if (ends.length === 0) return { body, end: "" };
        throw new JinjaError(`it ends where ${ends.join(" or ")} should stand`);
      }
      this.advance();
      if (token.type === "data") body.push({ kind: "text", text: token.text });
      else if (token.type === "variable_begin") {
        body.push({ kind: "output", value: this.tuple({ conditional: true }) });
        this.expectType("variable_end");
      } else {
        const name = this.name();
        if (ends.includes(name)) return { body, end: name };
        body.push(...this.statement(name));
        this.expectType("block_end");
      }
    }
  }

  /** The body of a block, up to the name of its last block. */
  private body(...ends: string[]): { body: Statement[]; end: string } {
    this.skipOperator(":");
    this.expectType("block_end");
    return this.statements(ends);
  }

  private statement(name: string): Statement[] {
    switch (name) {
      case "set":
        return [this.set()];
      case "if":
        return [this.inBranch(() => this.ifStatement())];
      case "for":
        return [this.forStatement()];
      case "break":
      case "continue":
        return [{ kind: name }];
      case "print":
        return this.print();
      case "with":
        return [this.withStatement()];
      case "macro": {
        const macro = this.name();
        return [{ kind: "macro", name: macro, macro: this.macro(true, "endmacro") }];
      }
      case "call": {
        const parameters = this.isOperator("(") ? this.parameters() : [];
        const call = this.expression();
        if (call.kind !== "call") throw new JinjaError("expected a call after call");
        return [{ kind: "call", call, macro: { ...this.macro(false, "endcall"), parameters } }];
      }
      case "filter": {
        const filters = [this.filter(), ...this.filters()];
        return [{ kind: "filter-block", filters, body: this.body("endfilter").body }];
      }
      case "generation":
        return [{ kind: "scope", body: this.body("endgeneration").body }];
    }
    if (elsewhere.includes(name)) throw new UnsupportedJinjaError(`the statement '${name}' is not supported`);
    throw new JinjaError(`unknown statement '${name}'`);
  }

  private set(): Statement {
    const target = this.target(true);
    if (this.skipOperator("=")) return { kind: "set", target, value: this.tuple({ conditional: true }) };
    const filters: Filter[] = this.filters();
    return { kind: "set-block", target, filters, body: this.body("endset").body };
  }

  private ifStatement(): Statement {
    const branches: { test: Expression; body: Statement[] }[] = [];
    for (;;) {
      const test = this.tuple({ conditional: false });
      const { body, end } = this.body("elif", "else", "endif");
      branches.push({ test, body });
      if (end === "elif") continue;
      return { kind: "if", branches, otherwise: end === "else" ? this.body("endif").body : [] };
    }
  }

  private forStatement(): Statement {
    const target = this.target(false, "in");
    this.expectName("in");
    const iterable = this.tuple({ conditional: false, ends: "recursive" });
    const test = this.skipName("if") ? this.expression() : undefined;
    const recursive = this.skipName("recursive");
    const { body, end } = this.body("endfor", "else");
    const otherwise = end === "else" ? this.body("endfor").body : [];
    return defined({ kind: "for", target, iterable, test, recursive, body, otherwise });
  }

  private print(): Statement[] {
    const outputs: Statement[] = [];
    while (this.current.type !== "block_end") {
      if (outputs.length > 0) this.expectOperator(",");
      outputs.push({ kind: "output", value: this.expression() });
    }
    return outputs;
  }

  private withStatement(): Statement {
    const targets: Target[] = [];
    const values: Expression[] = [];
    while (this.current.type !== "block_end") {
      if (targets.length > 0) this.expectOperator(",");
      targets.push(this.target(false));
      this.expectOperator("=");
      values.push(this.expression());
    }
    return { kind: "with", targets, values, body: this.body("endwith").body };
  }

  private macro(hasParameters: boolean, end: string): MacroBody {
    const parameters = hasParameters ? this.parameters() : [];
    const { result, reads } = this.readingNames(() => this.body(end).body);
    return { parameters, body: result, reads };
  }

  private parameters(): Parameter[] {
    const parameters: Parameter[] = [];
    this.expectOperator("(");
    while (!this.isOperator(")")) {
      if (parameters.length > 0) this.expectOperator(",");
      const name = this.name();
      if (this.skipOperator("=")) parameters.push({ name, default: this.expression() });
      else if (parameters.at(-1)?.default)
        throw new JinjaError("a parameter without default follows one that has one");
      else parameters.push({ name });
    }
    this.expectOperator(")");
    return parameters;
  }

  private target(members: boolean, end?: string): Target {
    const targets: Target[] = [];
    let isTuple = false;
    for (;;) {
      if (targets.length > 0 && isTuple && this.isTargetEnd(end)) break;
      targets.push(this.oneTarget(members, end));
      if (!this.skipOperator(",")) break;
      isTuple = true;
    }
    const [only] = targets;
    return isTuple || only === undefined ? { kind: "targets", targets } : only;
  }

  private isTargetEnd(end: string | undefined): boolean {
    return (
      this.isOperator("=") ||
      this.isOperator(")") ||
      this.current.type === "block_end" ||
      (end !== undefined && this.isName(end))
    );
  }

  private oneTarget(members: boolean, end: string | undefined): Target {
    if (this.skipOperator("(")) {
      const inside = this.target(members, end);
      this.expectOperator(")");
      return inside;
    }
    const name = this.name();
    if (["true", "false", "none", "True", "False", "None"].includes(name))
      throw new JinjaError(`can't assign to ${name}`);
    return members && this.skipOperator(".")
      ? { kind: "member", namespace: name, name: this.name() }
      : { kind: "name", name };
  }
}
