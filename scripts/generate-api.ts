// Writes api/*.api.md: of each public entry what it exports, and every type of Everturn's own that this stands on, without
// comments, so that a change of a public surface shows in a diff. Fails where an export has no docstring; with --check, also if a
// page is not up to date.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import ts from "typescript";
import packageJson from "../package.json" with { type: "json" };

const root = join(import.meta.dirname, "..");
const entries = Object.entries(packageJson.exports).filter(([, file]) => file.endsWith(".ts"));
const checker = declarations(entries.map(([, file]) => join(root, file)));
const printer = ts.createPrinter({ removeComments: true });

await mkdir(join(root, "api"), { recursive: true });
for (const [name, file] of entries) {
  const path = join(root, "api", `${basename(file, ".ts")}.api.md`);
  const page = report(join("everturn", name), join(root, file));
  const present = await readFile(path, "utf8").catch(() => "");
  if (present === page) continue;
  if (process.argv.includes("--check")) {
    console.error(
      `${relative(root, path)}: the public surface of ${join("everturn", name)} has changed. \`npm run generate\` writes the page: look at its diff, and commit it.`,
    );
    process.exitCode = 1;
  } else {
    await writeFile(path, page);
    console.log(`written: ${relative(root, path)}`);
  }
}

/** The declarations that the compiler makes of these modules and of those that they import, with their symbols. */
function declarations(files: string[]): { of(file: string): ts.SourceFile; symbols: ts.TypeChecker } {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config,
    ts.sys,
    root,
  );
  const emitting = { ...options, noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true };
  const texts = new Map<string, string>();
  ts.createProgram(files, emitting).emit(undefined, (path, text) => void texts.set(path, text));
  const plain: ts.CompilerOptions = { ...options, noLib: true, types: [], noCheck: true };
  const host = ts.createCompilerHost(plain);
  const program = ts.createProgram(files.map(declarationOf), plain, {
    ...host,
    fileExists: (path) => texts.has(path),
    readFile: (path) => texts.get(path),
    getSourceFile: (path, language) => {
      const text = texts.get(path);
      return text === undefined ? undefined : ts.createSourceFile(path, text, language, true);
    },
    resolveModuleNameLiterals: (literals, from) =>
      literals.map(({ text }) => {
        const resolvedFileName = declarationOf(join(from, "..", text));
        if (!text.startsWith(".") || !texts.has(resolvedFileName)) return { resolvedModule: undefined };
        return { resolvedModule: { resolvedFileName, extension: ts.Extension.Dts } };
      }),
  });
  const of = (file: string) => {
    const source = program.getSourceFile(declarationOf(file));
    if (source === undefined) throw new Error(`no declarations of ${file}`);
    return source;
  };
  return { of, symbols: program.getTypeChecker() };
}

function declarationOf(file: string): string {
  return file.replace(/\.ts$/, ".d.ts");
}

function report(name: string, file: string): string {
  const { symbols } = checker;
  const entry = symbols.getSymbolAtLocation(checker.of(file));
  if (entry === undefined) throw new Error(`${file} exports nothing`);
  const exported = symbols.getExportsOfModule(entry).map((one) => ({ as: one.name, symbol: resolved(one) }));
  const used = new Set(exported.map(({ symbol }) => symbol));
  for (const symbol of used) for (const one of mentioned(symbol)) used.add(one); // a set grows while it is walked
  for (const { as, symbol } of exported) {
    if (symbol.getDocumentationComment(symbols).length > 0) continue;
    console.error(`${name} exports ${as}, which has no docstring: write one where it is declared.`);
    process.exitCode = 1;
  }
  const own = new Set(exported.map(({ symbol }) => symbol));
  const lines = [
    `# ${name}`,
    "",
    `What \`${name}\` exports. Written by \`node scripts/generate-api.ts\`.`,
    "",
    "```ts",
    ...exported.map(({ as, symbol }) => textOf(symbol, as)).sort(),
    "```",
    "",
    "Types that these stand on:",
    "",
    "```ts",
    ...[...used]
      .filter((symbol) => !own.has(symbol))
      .map((symbol) => textOf(symbol, symbol.name))
      .sort(),
    "```",
    "",
  ];
  return lines.join("\n");
}

/** What an import or an export stands for. */
function resolved(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.symbols.getAliasedSymbol(symbol) : symbol;
}

/** The symbols of Everturn's own modules that a declaration names. */
function mentioned(symbol: ts.Symbol): ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (node: ts.Node): void => {
    const named = ts.isIdentifier(node) ? checker.symbols.getSymbolAtLocation(node) : undefined;
    if (named !== undefined && isOfModule(resolved(named))) found.push(resolved(named));
    ts.forEachChild(node, visit);
  };
  for (const node of symbol.declarations ?? []) visit(node);
  return found;
}

function isOfModule(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some((node) => ts.isSourceFile(statementOf(node).parent));
}

/** The statement that a declaration is, or is part of. */
function statementOf(node: ts.Node): ts.Node {
  return ts.isVariableDeclaration(node) ? node.parent.parent : node;
}

function textOf(symbol: ts.Symbol, as: string): string {
  const texts = (symbol.declarations ?? []).map((declaration) => {
    const node = statementOf(declaration);
    const text = isTable(declaration)
      ? tableText(declaration)
      : printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
    return text.replace(/^(export )?(declare )?/, "");
  });
  const renamed = as === symbol.name ? [] : [`// as ${as}`];
  return [...renamed, ...texts, ""].join("\n");
}

function isTable(node: ts.Node): boolean {
  return ts.isVariableDeclaration(node) && node.name.getText() === "errorTable";
}

/** Of the table of errors its codes: what they say is in docs/errors.md. */
function tableText(node: ts.Node): string {
  const codes = checker.symbols.getTypeAtLocation(node).getProperties();
  return ["const errorTable: {", ...codes.map(({ name }) => `    ${name};`), "}"].join("\n");
}
