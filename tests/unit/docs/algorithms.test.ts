import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { algorithmPresets } from "../../../src/engine/learning/algorithm.ts";

const docs = join(import.meta.dirname, "../../../docs");
const page = await readFile(join(docs, "algorithms.md"), "utf8");

test("each name beside a formula is exported by the file that it links to", async () => {
  const links = [...page.matchAll(/\[(?:`(\w+)`|\w[\w-]*)\]\((\.\.\/[^)]+)\)/g)];
  expect(links.length).toBeGreaterThan(20);
  for (const [, name, path = ""] of links) {
    const source = await readFile(join(docs, path), "utf8");
    if (name !== undefined) expect(source).toMatch(new RegExp(`export .*\\b${name}\\b`));
  }
});

test("the table of presets is what the presets are", () => {
  const rows = [...page.matchAll(/^\| `([\w+-]+)` \|.*$/gm)].filter(
    ([, name = ""]) => name in algorithmPresets,
  );
  const expected = Object.entries(algorithmPresets).map(([name, preset]) => {
    const { advantages, normalization, ratio, clipLow, clipHigh, aggregation } = preset;
    const kl = [preset.klIn, preset.klEstimator, preset.klCoefficient].join(", ");
    const cells = [advantages, normalization, ratio].map((cell) => `\`${cell}\``);
    const rest = [`${clipLow} / ${clipHigh}`, `\`${aggregation}\``, preset.klCoefficient > 0 ? kl : "none"];
    return [`\`${name}\``, ...cells, ...rest];
  });
  const found = rows.map(([row]) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  expect(found.map((cells) => [cells[1], ...cells.slice(3, -1)])).toEqual(expected);
});

test("the loss of its own is the one that tests run", async () => {
  const plugin = await readFile(join(docs, "../tests/plugins/loss-soft-gate/index.ts"), "utf8");
  expect(page).toContain(plugin);
});

test("the operators of a loss are those that everturn/engine exports", async () => {
  const [list = ""] = /operators that\n`everturn\/engine` exports: ([^.]+)\./.exec(page)?.slice(1) ?? [];
  const named = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const api = await readFile(join(docs, "../src/api/engine.ts"), "utf8");
  const [exported = ""] =
    /export \{([^}]+)\} from "\.\.\/engine\/onnx\/elementwise\.ts"/.exec(api)?.slice(1) ?? [];
  expect(named.toSorted()).toEqual(exported.match(/\w+/g)?.toSorted());
});
