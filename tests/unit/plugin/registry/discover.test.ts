import { cpSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { discoverPlugins } from "../../../../src/plugin/registry/discover.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const calculator = join(import.meta.dirname, "..", "..", "..", "..", "plugins", "tool-calculator");
const place = realpathSync(temporaryFolder());

/** Where the calculator is found from a project that has a copy of it in this folder. */
function calculatorsOf(project: string, folder: string): string[] {
  cpSync(calculator, join(place, project, folder), { recursive: true });
  const found = discoverPlugins(join(place, project)).filter(({ name }) => name === "tool-calculator");
  return found.map((plugin) => plugin.folder).sort();
}

test("a plugin installed in the project goes before the one that comes with Everturn", () => {
  const folder = "node_modules/@everturn/tool-calculator";
  expect(calculatorsOf("installed", folder)).toEqual([join(place, "installed", folder)]);
});

test("one that the project wrote clashes with it: both are told", () => {
  const own = join(place, "written", "plugins", "tool-calculator");
  expect(calculatorsOf("written", "plugins/tool-calculator")).toEqual([own, calculator].sort());
});
