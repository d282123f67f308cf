// npm run check:plugins: every tool and reward of plugins/ has its row in docs/plugins.md, and no other has one.
import { readFileSync } from "node:fs";
import { countedPackages, page, rowsOf } from "./plugin-table/rows.ts";

const rows = rowsOf(readFileSync(page, "utf8"));
const packages = countedPackages();
const problems = [
  ...packages
    .filter((name) => !rows.has(name))
    .map((name) => `${name} has no row in docs/plugins.md: run \`npm run plugin-table -- ${name}\``),
  ...[...rows.keys()]
    .filter((name) => !packages.includes(name))
    .map((name) => `docs/plugins.md has a row of ${name}, which is not in plugins/: delete it`),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
