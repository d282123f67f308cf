import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** Places in the code, as `file:line`. */
export interface Spreads {
  /** Spreads of literals, as in `{ ...{ a, b } }` and `[...[a, b]]`. */
  grouped: string[];
  /** Spreads of properties on a condition, as in `{ ...(a && { a }) }`. */
  conditional: string[];
}

/** Finds the spreads that hide what an object looks like, in the TypeScript files that git knows or would add. */
export function findSpreads(root: string): Spreads {
  const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"], {
    cwd: root,
  });
  const files = tracked
    .toString()
    .split("\n")
    .filter((file) => file !== "" && !/(^|\/)(generated|fixtures|histories)\//.test(file));
  const found: Spreads = { grouped: [], conditional: [] };
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest), file, found);
  }
  return found;
}

function visit(node: ts.Node, file: string, found: Spreads, source?: ts.SourceFile): void {
  const within = ts.isSourceFile(node) ? node : source;
  if (within !== undefined && (ts.isSpreadAssignment(node) || ts.isSpreadElement(node))) {
    const spread = bare(node.expression);
    const { line } = within.getLineAndCharacterOfPosition(node.getStart(within));
    const place = `${file}:${line + 1}`;
    if (ts.isObjectLiteralExpression(spread) || ts.isArrayLiteralExpression(spread))
      found.grouped.push(place);
    else if (ts.isSpreadAssignment(node) && isConditional(spread)) found.conditional.push(place);
  }
  ts.forEachChild(node, (child) => visit(child, file, found, within));
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
