import { accessFor } from "./access.ts";
import { textOf } from "./bind.ts";
import { Budget } from "./budget.ts";
import { JinjaError } from "./errors.ts";
import { Evaluator } from "./evaluator.ts";
import { checkMember } from "./globals.ts";
import { Loop, loopItems } from "./loop.ts";
import { callMacro } from "./macro.ts";
import type { Filter, ForStatement, MacroBody, Statement, Target } from "./nodes.ts";
import { Scope } from "./scope.ts";
import { Invocable, isTrue, Lazy, listOf, Namespace, typeOf, type Value } from "./values.ts";
import { repr, str } from "./written.ts";

/** How a body ended. */
type Ending = "break" | "continue" | undefined;

/** Renders statements in a scope. Throws JinjaError. */
export function rendered(statements: readonly Statement[], scope: Scope): string {
  return new Interpreter().render(statements, scope);
}

class Interpreter {
  private readonly budget = new Budget();
  private readonly evaluator = new Evaluator(accessFor(this.budget));
  private output = "";

  render(statements: readonly Statement[], scope: Scope): string {
    return this.budget.during(() => this.captured(() => this.run(statements, scope)));
  }

  /** The text that `action` writes. */
  private captured(action: () => unknown): string {
    const { output } = this;
    this.output = "";
    action();
    const text = this.output;
    this.output = output;
    return text;
  }

  private write(text: string): void {
    this.output += text;
    this.budget.step(text.length / 16);
    this.budget.check(this.output.length);
  }

  private run(statements: readonly Statement[], scope: Scope): Ending {
    for (const statement of statements) {
      this.budget.step();
      const ending = this.statement(statement, scope);
      if (ending !== undefined) return ending;
    }
    return undefined;
  }

  private statement(statement: Statement, scope: Scope): Ending {
    switch (statement.kind) {
      case "text":
        this.write(statement.text);
        return undefined;
      case "output":
        this.write(str(this.evaluator.value(statement.value, scope)));
        return undefined;
      case "if": {
        const branch = statement.branches.find(({ test }) => isTrue(this.evaluator.value(test, scope)));
        return this.run(branch?.body ?? statement.otherwise, scope);
      }
      case "for":
        return this.loop(statement, this.evaluator.value(statement.iterable, scope), scope, 0);
      case "break":
      case "continue":
        return statement.kind;
      case "set":
        this.assign(statement.target, this.evaluator.value(statement.value, scope), scope);
        return undefined;
      case "set-block":
        this.assign(statement.target, this.filteredBody(statement, scope), scope);
        return undefined;
      case "filter-block":
        this.write(textOf(this.filteredBody(statement, scope), "filter"));
        return undefined;
      case "with": {
        const inner = new Scope(scope);
        for (const [at, target] of statement.targets.entries()) {
          const value = statement.values[at];
          if (value !== undefined) this.assign(target, this.evaluator.value(value, scope), inner);
        }
        return this.run(statement.body, inner);
      }
      case "scope":
        this.write(this.captured(() => this.run(statement.body, new Scope(scope))));
        return undefined;
      case "macro":
        scope.set(statement.name, this.macro(statement.name, statement.macro, scope));
        return undefined;
      case "call": {
        const caller = this.macro(undefined, statement.macro, scope);
        this.write(str(this.evaluator.call(statement.call, scope, caller)));
        return undefined;
      }
    }
  }

  private filteredBody(
    { filters, body }: { filters: readonly Filter[]; body: readonly Statement[] },
    scope: Scope,
  ): Value {
    const inner = new Scope(scope);
    const text: Value = this.captured(() => this.run(body, inner));
    return filters.reduce<Value>((value, filter) => this.evaluator.filtered(value, filter, inner), text);
  }

  private macro(name: string | undefined, macro: MacroBody, scope: Scope): Invocable {
    const attributes = { name: name ?? null, arguments: macro.parameters.map((parameter) => parameter.name) };
    const render = (inner: Scope) =>
      this.budget.deeper(() => this.captured(() => this.run(macro.body, inner)));
    return new Invocable(
      (args) => {
        const inner = new Scope(scope);
        callMacro(name ?? "caller", macro, args, inner, (expression) =>
          this.evaluator.value(expression, inner),
        );
        return render(inner);
      },
      name === undefined ? "<Macro anonymous>" : `<Macro ${repr(name)}>`,
      attributes,
    );
  }

  private loop(statement: ForStatement, iterable: Value, scope: Scope, depth: number): Ending {
    const { items, length } = loopItems(statement.test ? this.tested(statement, iterable, scope) : iterable);
    const again = statement.recursive
      ? (value: Value) =>
          this.budget.deeper(() => this.captured(() => this.loop(statement, value, scope, depth + 1)))
      : undefined;
    const loop = new Loop(items, length, depth, again && (({ positional: [value = null] }) => again(value)));
    let completed = false;
    for (let item = loop.next(); item !== undefined; item = loop.next()) {
      this.budget.step();
      const inner = new Scope(scope);
      inner.set("loop", loop);
      this.assign(statement.target, item, inner);
      const ending = this.run(statement.body, inner);
      if (ending === "break") break;
      if (ending === undefined) completed = true;
    }
    if (!completed) return this.run(statement.otherwise, new Scope(scope));
    return undefined;
  }

  private tested({ target, test }: ForStatement, iterable: Value, scope: Scope): Lazy {
    return new Lazy(
      this.passing(loopItems(iterable).items, (item) => {
        const inner = new Scope(scope);
        this.assign(target, item, inner);
        return test === undefined || isTrue(this.evaluator.value(test, inner));
      }),
    );
  }

  private *passing(items: Iterator<Value>, passes: (item: Value) => boolean): Generator<Value> {
    for (const item of { [Symbol.iterator]: () => items }) {
      this.budget.step();
      if (passes(item)) yield item;
    }
  }

  private assign(target: Target, value: Value, scope: Scope): void {
    if (target.kind === "name") scope.set(target.name, value);
    else if (target.kind === "member") {
      const namespace = scope.get(target.namespace);
      if (!(namespace instanceof Namespace))
        throw new JinjaError("cannot assign attribute on non-namespace object");
      checkMember(target.name);
      namespace.members.set(target.name, value);
    } else {
      const values = listOf(value);
      if (values.length !== target.targets.length)
        throw new JinjaError(
          `cannot unpack ${values.length} values of a ${typeOf(value)} into ${target.targets.length}`,
        );
      for (const [at, part] of target.targets.entries()) this.assign(part, values[at] ?? null, scope);
    }
  }
}
