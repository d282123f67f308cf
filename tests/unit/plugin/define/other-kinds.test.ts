import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineLoss, type LossTensors } from "everturn/engine";
import { defineLoop } from "everturn/workflow";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { ResolvedPlugin } from "../../../../src/contracts/plan.ts";
import { bundleWorkflows } from "../../../../src/control/temporal/bundle-workflows.ts";
import { resolveFile } from "../../../../src/plugin/define/resolve-file.ts";
import { loadLoss, loadPolicy, loadTrainer } from "../../../../src/plugin/registry/registry.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
mkdirSync(join(folder, "node_modules"));
symlinkSync(join(import.meta.dirname, "..", "..", "..", ".."), join(folder, "node_modules", "everturn"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

async function resolved(kind: "loop" | "loss" | "policy" | "trainer", text: string, name = "default") {
  writeFileSync(join(folder, `${kind}.ts`), text);
  const place = { file: "pipeline.yaml", line: 1, column: 1, text: "pipeline.yaml:1:1" };
  const reference = { path: `./${kind}.ts`, name };
  const found = await resolveFile({ kind, reference, place, base: folder });
  if (found.manifest === undefined) throw new Error(found.problems.map(({ error }) => error.message).join());
  const { file: entry, manifest, source } = found;
  const plugin: ResolvedPlugin = {
    name: manifest.name,
    version: manifest.version,
    folder: dirname(entry),
    entry,
    manifest,
    config: {},
    source,
  };
  return { plugin, manifest };
}

test("a loop in one file becomes workflow code", async () => {
  const text = (turn: string) => `import { defineLoop } from "everturn/workflow";
    export default defineLoop({
      name: "asker",
      config: { type: "object", additionalProperties: false, properties: { times: { type: "integer", default: 1 } } },
      ${turn}
    });`;
  const loop = text(
    'async turn({ generate }) { await generate(); return "ended by the loop in one file"; },',
  );
  const { plugin, manifest } = await resolved(
    "loop",
    loop.replace("ended by the loop in one file", "answered"),
  );
  expect(manifest).toMatchObject({
    name: "loop-asker",
    kind: "loop",
    workflow: "./loop.ts",
    config: { type: "object" },
  });
  writeFileSync(plugin.entry, loop);
  const { code } = await bundleWorkflows([{ name: plugin.name, workflow: plugin.entry }], false);
  expect(code).toContain("ended by the loop in one file");
  expect(code).toContain("everturn.definition");
  await expect(resolved("loop", text(""))).rejects.toThrow(/loop\.ts:2:5: turn must be a function/);
  await expect(resolved("loop", loop, "other")).rejects.toThrow("a loop is a module's default export");
});

test("a loss, a policy and a trainer may be one file", async () => {
  const engine = (rest: string) =>
    `import { defineLoss, definePolicy, defineTrainer } from "everturn/engine";\n${rest}`;
  const loss = await resolved(
    "loss",
    engine("export default defineLoss({ loss: (tokens) => tokens.advantages });"),
  );
  expect(loss.manifest).toMatchObject({ name: "loss-loss", entry: "./loss.ts" });
  expect(await loadLoss(loss.plugin)).toBeTypeOf("function");
  const text =
    "export const own = definePolicy({ name: 'own', initialize: async () => {}, open: () => { throw 0; } });";
  const policy = await resolved("policy", engine(text), "own");
  expect(policy.manifest).toMatchObject({ name: "policy-own", kind: "policy" });
  expect(await loadPolicy(policy.plugin)).toMatchObject({ initialize: expect.any(Function) });
  const trainer = await resolved(
    "trainer",
    engine("export default defineTrainer({ open: () => { throw 0; } });"),
  );
  expect(await loadTrainer(trainer.plugin)).toMatchObject({ open: expect.any(Function) });
  await expect(resolved("loss", engine("export default defineLoss({});"))).rejects.toThrow(
    "loss must be a function",
  );
});

test("loops and losses have the types of their configuration", () => {
  const config = z.object({ times: z.number() });
  defineLoop({
    config,
    async turn(context) {
      expectTypeOf(context.config).toEqualTypeOf<{ times: number }>();
      return "continue";
    },
  });
  defineLoss({
    config,
    loss(tokens, given) {
      expectTypeOf(tokens).toEqualTypeOf<LossTensors>();
      expectTypeOf(given).toEqualTypeOf<{ times: number }>();
      return tokens.advantages;
    },
  });
  // @ts-expect-error: a turn ends with an outcome, or "continue"
  defineLoop({ turn: async () => "over" });
});
