import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { foreignNames } from "../../../src/base/validation/foreign-names.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/choosing.md"), "utf8");

test("the table of other frameworks' names is the one that error messages use", () => {
  const [, table = ""] = page.split("| verl | TRL | OpenRLHF | Everturn |");
  const rows = table
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| ---"))
    .map((line) => line.replace(/ × `[^`]+`/g, "").split("|"));
  const documented = rows.map((cells) => ({
    setting: namesIn(cells[4])[0],
    names: cells.slice(1, 4).flatMap(namesIn).map(known).toSorted(),
  }));
  expect(documented.map(({ setting, names }) => ({ setting, names: [...new Set(names)] }))).toEqual(
    foreignNames.map(({ setting, names }) => ({ setting, names: names.toSorted() })),
  );
});

/** The names in code font of a cell. */
function namesIn(cell = ""): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

/** The name in the table of messages that matches a name of the page, which may have more of its sections. */
function known(name: string): string {
  const all = foreignNames.flatMap(({ names }) => names);
  return all.find((one) => name === one || name.endsWith(`.${one}`)) ?? `unknown: ${name}`;
}
