// npm run check:spreads: objects list their properties plainly. No grouped spreads, and few conditional ones.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** How many conditional spreads of objects the code may have. Lower it with each one that goes. */
const most = 99;

const root = join(import.meta.dirname, "..");
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"], {
  cwd: root,
});
const files = tracked
  .toString()
  .split("\n")
  .filter((file) => file !== "" && !/(^|\/)(generated|fixtures|histories)\//.test(file));

const grouped: string[] = [];
const conditional: string[] = [];
for (const file of files) {
  const text = readFileSync(join(root, file), "utf8");
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest), file);
}
for (const place of grouped)
  console.error(`${place} spreads a literal: list its properties or elements instead`);
if (process.argv.includes("--list")) for (const place of conditional) console.log(place);
console.log(`grouped spreads: ${grouped.length} (none allowed)`);
console.log(`conditional spreads: ${conditional.length} (at most ${most})`);
if (conditional.length > most)
  console.error(
    "Leave undefined properties out by defined() of src/base/records/defined.ts (--list shows them all).",
  );
if (grouped.length > 0 || conditional.length > most) process.exitCode = 1;

function visit(node: ts.Node, file: string, source?: ts.SourceFile): void {
  const within = ts.isSourceFile(node) ? node : source;
  if (within !== undefined && (ts.isSpreadAssignment(node) || ts.isSpreadElement(node))) {
    const spread = bare(node.expression);
    const { line } = within.getLineAndCharacterOfPosition(node.getStart(within));
    const place = `${file}:${line + 1}`;
    if (ts.isObjectLiteralExpression(spread) || ts.isArrayLiteralExpression(spread)) grouped.push(place);
    else if (ts.isSpreadAssignment(node) && isConditional(spread)) conditional.push(place);
  }
  ts.forEachChild(node, (child) => visit(child, file, within));
}

function bare(expression: ts.Expression): ts.Expression {
  const isWrapped = ts.isParenthesizedExpression(expression) || ts.isAsExpression(expression);
  return isWrapped || ts.isSatisfiesExpression(expression) ? bare(expression.expression) : expression;
}

function isConditional(expression: ts.Expression): boolean {
  if (ts.isConditionalExpression(expression)) return true;
  return (
    ts.isBinaryExpression(expression) &&
    expression.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken
  );
}
