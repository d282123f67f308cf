import { defined } from "../../base/records/defined.ts";
import { isConstant } from "./constant.ts";
import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { filters, unknownFilter } from "./filters.ts";
import type { Token } from "./lexer.ts";
import type { Arguments, ArithmeticOperator, ComparisonOperator, Expression, Filter } from "./nodes.ts";
import { tests } from "./tests.ts";

const comparisons: readonly string[] = ["==", "!=", "<", "<=", ">", ">="];
const isComparison = (text: string): text is ComparisonOperator => comparisons.includes(text);
const multiplications: readonly string[] = ["*", "/", "//", "%"];
const isMultiplication = (text: string): text is ArithmeticOperator => multiplications.includes(text);
const macroNames = ["caller", "kwargs", "varargs"];
const constants: Record<string, boolean | null> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};
const none: Arguments = { positional: [], named: [] };

/** Parses expressions by Jinja's grammar, whose precedences differ from Python's. */
export class ExpressionParser {
  private readonly tokens: readonly Token[];
  private at = 0;
  /** Problems with filters and tests. Inside branches, Jinja only reports them when it gets there. */
  private readonly wrong: JinjaError[] = [];
  private reading: Set<string>[] = [];

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  protected get current(): Token {
    return this.tokens[this.at] ?? { type: "end" };
  }

  protected advance(): Token {
    const { current } = this;
    this.at++;
    return current;
  }

  protected isOperator(text: string): boolean {
    const { current } = this;
    return current.type === "operator" && current.text === text;
  }

  protected isName(text: string, token = this.current): boolean {
    return token.type === "name" && token.text === text;
  }

  protected skipOperator(text: string): boolean {
    const found = this.isOperator(text);
    if (found) this.at++;
    return found;
  }

  protected skipName(text: string): boolean {
    const found = this.isName(text);
    if (found) this.at++;
    return found;
  }

  protected expectOperator(text: string): void {
    if (!this.skipOperator(text)) throw this.unexpected(`"${text}"`);
  }

  protected expectName(text: string): void {
    if (!this.skipName(text)) throw this.unexpected(`"${text}"`);
  }

  protected expectType(type: "variable_end" | "block_end"): void {
    if (this.current.type !== type) throw this.unexpected("the end of a tag");
    this.at++;
  }

  protected name(): string {
    const { current } = this;
    if (current.type !== "name") throw this.unexpected("a name");
    this.at++;
    return current.text;
  }

  private unexpected(wanted: string): JinjaError {
    const { current } = this;
    const found =
      "text" in current ? `"${current.text}"` : "value" in current ? String(current.value) : current.type;
    return new JinjaError(`expected ${wanted}, found ${found}`);
  }

  /** Parses a branch. Its filters and tests are only resolved when it runs. */
  protected inBranch<Result>(parse: () => Result): Result {
    const before = this.wrong.length;
    const result = parse();
    this.wrong.splice(before);
    return result;
  }

  /** Throws the first problem with filters and tests. */
  protected checkNames(): void {
    const [first] = this.wrong;
    if (first !== undefined) throw first;
  }

  /** Parses, and returns which of `caller`, `kwargs` and `varargs` the result reads. */
  protected readingNames<Result>(parse: () => Result): { result: Result; reads: ReadonlySet<string> } {
    const reads = new Set<string>();
    this.reading.push(reads);
    const result = parse();
    this.reading.pop();
    return { result, reads };
  }

  protected expression(): Expression {
    return this.conditional();
  }

  /** An expression, or several between commas as a tuple. `ends` is a name that may follow the last comma. */
  protected tuple({
    conditional,
    ends,
    explicit = false,
  }: {
    conditional: boolean;
    ends?: string;
    explicit?: boolean;
  }): Expression {
    const items: Expression[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0 && isTuple && this.isTupleEnd(ends)) break;
      if (items.length === 0 && this.isTupleEnd(ends)) {
        if (explicit) return { kind: "tuple", items };
        throw this.unexpected("an expression");
      }
      items.push(conditional ? this.conditional() : this.or());
      if (!this.skipOperator(",")) break;
      isTuple = true;
    }
    const [only] = items;
    return isTuple || only === undefined ? { kind: "tuple", items } : only;
  }

  private isTupleEnd(ends: string | undefined): boolean {
    const { type } = this.current;
    if (type === "variable_end" || type === "block_end" || this.isOperator(")")) return true;
    return ends !== undefined && this.isName(ends);
  }

  private conditional(): Expression {
    const before = this.wrong.length;
    let value = this.or();
    while (this.skipName("if")) {
      const then = value;
      const test = this.or();
      const otherwise = this.skipName("else") ? this.conditional() : undefined;
      value = defined({ kind: "conditional", test, then, otherwise });
      this.wrong.splice(before);
    }
    return value;
  }

  private or(): Expression {
    let left = this.and();
    while (this.skipName("or")) left = { kind: "or", left, right: this.and() };
    return left;
  }

  private and(): Expression {
    let left = this.not();
    while (this.skipName("and")) left = { kind: "and", left, right: this.not() };
    return left;
  }

  private not(): Expression {
    return this.skipName("not") ? { kind: "not", operand: this.not() } : this.comparison();
  }

  private comparison(): Expression {
    const first = this.sum();
    const rest: { operator: ComparisonOperator; operand: Expression }[] = [];
    for (;;) {
      const operator = this.comparisonOperator();
      if (operator === undefined) break;
      rest.push({ operator, operand: this.sum() });
    }
    return rest.length === 0 ? first : { kind: "comparison", first, rest };
  }

  private comparisonOperator(): ComparisonOperator | undefined {
    const { current } = this;
    if (current.type === "operator" && isComparison(current.text)) {
      this.at++;
      return current.text;
    }
    if (this.skipName("in")) return "in";
    if (!this.isName("not") || !this.isName("in", this.tokens[this.at + 1])) return undefined;
    this.at += 2;
    return "not in";
  }

  private sum(): Expression {
    let left = this.concatenation();
    for (;;) {
      const operator = this.isOperator("+") ? "+" : this.isOperator("-") ? "-" : undefined;
      if (operator === undefined) return left;
      this.at++;
      left = { kind: "arithmetic", operator, left, right: this.concatenation() };
    }
  }

  private concatenation(): Expression {
    const first = this.product();
    const parts = [first];
    while (this.skipOperator("~")) parts.push(this.product());
    return parts.length === 1 ? first : { kind: "concatenation", parts };
  }

  private product(): Expression {
    let left = this.power();
    for (;;) {
      const { current } = this;
      if (current.type !== "operator" || !isMultiplication(current.text)) return left;
      this.at++;
      left = { kind: "arithmetic", operator: current.text, left, right: this.power() };
    }
  }

  private power(): Expression {
    let left = this.unary(true);
    while (this.skipOperator("**")) {
      const right = this.unary(true);
      left = {
        kind: "arithmetic",
        operator: "**",
        left,
        right,
        signLast: isConstant(left) && !isConstant(right),
      };
    }
    return left;
  }

  private unary(withFilters: boolean): Expression {
    let value: Expression;
    if (this.skipOperator("-")) value = { kind: "negative", operand: this.unary(false) };
    else if (this.skipOperator("+")) value = { kind: "positive", operand: this.unary(false) };
    else value = this.primary();
    value = this.postfix(value);
    return withFilters ? this.filtered(value) : value;
  }

  private primary(): Expression {
    const token = this.advance();
    if (token.type === "name") {
      if (Object.hasOwn(constants, token.text))
        return { kind: "constant", value: constants[token.text] ?? null };
      if (token.text === "self" || token.text === "super")
        throw new UnsupportedJinjaError(`'${token.text}' is not supported`);
      if (macroNames.includes(token.text)) for (const reads of this.reading) reads.add(token.text);
      return { kind: "name", name: token.text };
    }
    if (token.type === "number") return { kind: "constant", value: token.value };
    if (token.type === "string") {
      let value = token.text;
      for (let next = this.current; next.type === "string"; next = this.current) {
        value += next.text;
        this.at++;
      }
      return { kind: "constant", value };
    }
    if (token.type === "operator") {
      if (token.text === "(") {
        const value = this.tuple({ conditional: true, explicit: true });
        this.expectOperator(")");
        return value;
      }
      if (token.text === "[") return { kind: "list", items: this.separated("]", () => this.expression()) };
      if (token.text === "{") return { kind: "dict", entries: this.separated("}", () => this.entry()) };
    }
    this.at--;
    throw this.unexpected("an expression");
  }

  private separated<Item>(end: string, parse: () => Item): Item[] {
    const items: Item[] = [];
    while (!this.isOperator(end)) {
      if (items.length > 0) this.expectOperator(",");
      if (this.isOperator(end)) break;
      items.push(parse());
    }
    this.expectOperator(end);
    return items;
  }

  private entry(): [Expression, Expression] {
    const key = this.expression();
    this.expectOperator(":");
    return [key, this.expression()];
  }

  private postfix(start: Expression): Expression {
    let value = start;
    for (;;) {
      if (this.isOperator("(")) value = { kind: "call", callee: value, args: this.callArguments() };
      else if (this.skipOperator(".")) value = this.attribute(value);
      else if (this.skipOperator("[")) value = this.subscript(value);
      else return value;
    }
  }

  private attribute(object: Expression): Expression {
    const token = this.advance();
    if (token.type === "name") return { kind: "attribute", object, name: token.text };
    if (token.type === "number" && typeof token.value === "bigint")
      return { kind: "item", object, key: { kind: "constant", value: token.value } };
    throw new JinjaError("expected a name or a whole number after a point");
  }

  private subscript(object: Expression): Expression {
    const keys: Expression[] = [];
    while (!this.isOperator("]")) {
      if (keys.length > 0) this.expectOperator(",");
      const bounds = this.bounds();
      if (bounds.length > 1) {
        if (keys.length > 0 || !this.isOperator("]"))
          throw new UnsupportedJinjaError("slices in several dimensions are not supported");
        this.at++;
        return { kind: "slice", object, bounds };
      }
      const [key] = bounds;
      if (key !== undefined) keys.push(key);
    }
    this.at++;
    const [only] = keys;
    return {
      kind: "item",
      object,
      key: keys.length === 1 && only !== undefined ? only : { kind: "tuple", items: keys },
    };
  }

  /** The content of brackets: a key, or at least two bounds of a slice. */
  private bounds(): (Expression | undefined)[] {
    const isEnd = () => this.isOperator("]") || this.isOperator(",");
    const first = this.isOperator(":") ? undefined : this.expression();
    if (!this.skipOperator(":")) return [first];
    const stop = this.isOperator(":") || isEnd() ? undefined : this.expression();
    const step = this.skipOperator(":") && !isEnd() ? this.expression() : undefined;
    return [first, stop, step];
  }

  private callArguments(): Arguments {
    this.expectOperator("(");
    const args: Arguments = { positional: [], named: [] };
    let isFirst = true;
    while (!this.isOperator(")")) {
      if (!isFirst) this.expectOperator(",");
      if (this.isOperator(")")) break;
      isFirst = false;
      this.argument(args);
    }
    this.expectOperator(")");
    return args;
  }

  private argument(args: Arguments): void {
    const ensure = (isValid: boolean) => {
      if (!isValid) throw new JinjaError("invalid syntax for function call expression");
    };
    const next = this.tokens[this.at + 1];
    if (this.skipOperator("*")) {
      ensure(args.spread === undefined && args.spreadNamed === undefined);
      args.spread = this.expression();
    } else if (this.skipOperator("**")) {
      ensure(args.spreadNamed === undefined);
      args.spreadNamed = this.expression();
    } else if (this.current.type === "name" && next?.type === "operator" && next.text === "=") {
      ensure(args.spreadNamed === undefined);
      const name = this.name();
      this.at++;
      args.named.push([name, this.expression()]);
    } else {
      ensure(args.spread === undefined && args.spreadNamed === undefined && args.named.length === 0);
      args.positional.push(this.expression());
    }
  }

  private filtered(start: Expression): Expression {
    let value = start;
    for (;;) {
      if (this.skipOperator("|")) value = { kind: "filter", operand: value, filter: this.filter() };
      else if (this.skipName("is")) value = this.test(value);
      else if (this.isOperator("(")) value = { kind: "call", callee: value, args: this.callArguments() };
      else return value;
    }
  }

  /** A sequence of filters. */
  protected filters(): Filter[] {
    const all: Filter[] = [];
    while (this.skipOperator("|")) all.push(this.filter());
    return all;
  }

  protected filter(): Filter {
    const name = this.dottedName();
    if (!Object.hasOwn(filters, name)) this.wrong.push(unknownFilter(name));
    return { name, args: this.isOperator("(") ? this.callArguments() : none };
  }

  private dottedName(): string {
    let name = this.name();
    while (this.skipOperator(".")) name += `.${this.name()}`;
    return name;
  }

  private test(operand: Expression): Expression {
    const negated = this.skipName("not");
    const name = this.dottedName();
    if (!Object.hasOwn(tests, name)) this.wrong.push(new JinjaError(`no test named '${name}'`));
    const result: Expression = { kind: "test", operand, name, args: this.testArguments() };
    return negated ? { kind: "not", operand: result } : result;
  }

  private testArguments(): Arguments {
    if (this.isOperator("(")) return this.callArguments();
    const { current } = this;
    const begins =
      current.type === "string" || current.type === "number" || this.isOperator("[") || this.isOperator("{");
    const isName = current.type === "name" && !["else", "or", "and"].includes(current.text);
    if (!begins && !isName) return none;
    if (this.isName("is")) throw new JinjaError("you cannot chain multiple tests with is");
    return { positional: [this.postfix(this.primary())], named: [] };
  }
}
