import { createRequire } from "node:module";
import { basename, dirname, extname } from "node:path";
import type ts from "typescript";
import { defined } from "../../base/records/defined.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { PluginSource } from "../../contracts/plan.ts";
import type { Finding, Inspection } from "./inspection.ts";
import type { FileReference } from "./reference.ts";
import { described, NoJsonType, typeSchema } from "./type-schema.ts";

type TypeScript = typeof ts;

/** A parameter of a function, and its argument's schema. */
interface Parameter {
  name: string;
  schema: JsonObject;
  isOptional: boolean;
  isRest: boolean;
  /** A pattern such as `({ a, b }: …)`, whose properties are the arguments. */
  isPattern: boolean;
}

/** Derives a tool from a plain function, by its types and its doc comment. */
export function inferFunction({ path, name }: FileReference): Inspection["found"] {
  const typescript = typescriptOf(path);
  if ("reason" in typescript) return { finding: typescript };
  const { compiler } = typescript;
  const options = compilerOptions(compiler, path);
  const program = compiler.createProgram([path], options, hostOf(compiler, options));
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  const exported = module && checker.getExportsOfModule(module).find((one) => one.name === name);
  if (source === undefined || exported === undefined) {
    return { finding: { reason: `its export “${name}” has no type`, hint: "Write `export function …`." } };
  }
  const alias = exported.flags & compiler.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const node = alias.valueDeclaration ?? source;
  const at = (place: ts.Node, reason: string, hint: string): { finding: Finding } => {
    const file = place.getSourceFile();
    const { line, character } = file.getLineAndCharacterOfPosition(place.getStart());
    return { finding: { file: file.fileName, line: line + 1, column: character + 1, reason, hint } };
  };
  const called = name === "default" ? basename(path, extname(path)) : name;
  const [signature, second] = checker.getTypeOfSymbolAtLocation(alias, node).getCallSignatures();
  if (signature === undefined || second !== undefined || signature.typeParameters !== undefined) {
    const has = signature?.typeParameters ? "type parameters" : "several signatures";
    const reason = signature === undefined ? `${called} is a class` : `the function ${called} has ${has}`;
    return at(node, reason, "Write one signature with plain types: a tool has one schema.");
  }
  const { description } = described({ compiler, checker }, alias);
  if (description === undefined) {
    const hint = "Write /** … */ above it: the policy reads it as the description of the tool.";
    return at(node, `the function ${called} has no description`, hint);
  }
  const parameters: Parameter[] = [];
  for (const symbol of signature.parameters) {
    const declared = symbol.valueDeclaration;
    try {
      parameters.push(parameterOf(compiler, checker, symbol, node));
    } catch (thrown) {
      if (!(thrown instanceof NoJsonType)) throw thrown;
      const reason = `the parameter “${symbol.name}” of ${called} can't be an argument of a tool: ${thrown.message}`;
      return at(declared ?? node, reason, "Take text, numbers, true or false, lists or objects of these.");
    }
  }
  const [first, other] = parameters;
  const isOne = first?.isPattern === true && other === undefined;
  const said = { name: called, description, parameters: isOne ? first.schema : objectOf(parameters) };
  const positions: PluginSource["positions"] = isOne
    ? "object"
    : parameters.map((one) => (one.isRest ? `...${one.name}` : one.name));
  return { definition: { kind: "tool", said, functions: ["execute"], schemas: {}, positions } };
}

function objectOf(parameters: readonly Parameter[]): JsonObject {
  const required = parameters.flatMap(({ name, isOptional, isRest }) => (isOptional || isRest ? [] : [name]));
  return defined({
    type: "object",
    additionalProperties: false,
    required: required.length > 0 ? required : undefined,
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
  });
}

function parameterOf(
  compiler: TypeScript,
  checker: ts.TypeChecker,
  symbol: ts.Symbol,
  node: ts.Node,
): Parameter {
  const declared = symbol.valueDeclaration;
  const schema = typeSchema({ compiler, checker }, checker.getTypeOfSymbolAtLocation(symbol, node), node);
  if (declared === undefined || !compiler.isParameter(declared))
    throw new NoJsonType("it has no declaration");
  const usual = declared.initializer === undefined ? undefined : literalOf(compiler, declared.initializer);
  return {
    name: symbol.name,
    schema: defined({ ...schema, ...described({ compiler, checker }, symbol), default: usual }),
    isOptional: checker.isOptionalParameter(declared),
    isRest: declared.dotDotDotToken !== undefined,
    isPattern: compiler.isObjectBindingPattern(declared.name),
  };
}

/** The value of a default that is a literal. */
function literalOf(compiler: TypeScript, node: ts.Expression): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(node.getText().replace(/^'([^"\\]*)'$/, '"$1"'));
    return value;
  } catch {
    return compiler.isNumericLiteral(node) ? Number(node.text) : undefined;
  }
}

/**
 * The options of the project's tsconfig.json, if it has one. `null` is distinguished from types that always
 * have a value. Browser types are not loaded unless the project names them. They cost most of the compiler's
 * time, and none of them is an argument of a tool.
 */
function compilerOptions(compiler: TypeScript, path: string): ts.CompilerOptions {
  const file = compiler.findConfigFile(dirname(path), compiler.sys.fileExists);
  const read = file === undefined ? {} : compiler.readConfigFile(file, compiler.sys.readFile).config;
  const { options } = compiler.parseJsonConfigFileContent(read ?? {}, compiler.sys, dirname(file ?? path));
  const standard = { target: compiler.ScriptTarget.ES2023, lib: ["lib.esnext.d.ts"], types: [] };
  const usual = { module: compiler.ModuleKind.NodeNext, ...standard };
  const own = { noEmit: true, skipLibCheck: true, strictNullChecks: true, allowJs: true };
  return { ...usual, ...options, ...own, allowImportingTsExtensions: true };
}

/**
 * Reads the language's own declarations without their doc comments, which saves a quarter of the work.
 * Nothing uses these comments.
 */
function hostOf(compiler: TypeScript, options: ts.CompilerOptions): ts.CompilerHost {
  const host = compiler.createCompilerHost(options);
  if (!("JSDocParsingMode" in compiler)) return host; // before TypeScript 5.3
  const own = dirname(host.getDefaultLibFileName(options));
  const withoutComments = compiler.JSDocParsingMode.ParseNone;
  return {
    ...host,
    getSourceFile(file, version, ...others) {
      const isOwn = dirname(file) === own && typeof version === "object";
      const how = isOwn ? { ...version, jsDocParsingMode: withoutComments } : version;
      return host.getSourceFile(file, how, ...others);
    },
  };
}

/** The TypeScript of a file's project. */
function typescriptOf(path: string): { compiler: TypeScript } | Finding {
  const require = createRequire(path);
  try {
    const found: TypeScript = require("typescript");
    if (typeof found.createProgram === "function") return { compiler: found };
    return {
      reason: `a plain function's schema is inferred by TypeScript, but ${found.version} has no compiler to ask`,
      hint: "Install typescript@6 (`npm install --save-dev typescript@6`), or write defineTool({ … }).",
    };
  } catch {
    return {
      reason: "a plain function's schema is inferred by TypeScript, and the project of the file has none",
      hint: "Install it (`npm install --save-dev typescript@6`), or write defineTool({ … }).",
    };
  }
}
