import { join } from "node:path";
import { expect, test } from "vitest";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { toolDefinition } from "../../../../src/plan/pipeline/resolve/tool-definitions.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "..", "pipelines", "calculator", "tokenizer");

test("a tool that takes no arguments needs no properties in its manifest: chat templates write it all the same", async () => {
  const tool = toolDefinition({
    name: "now",
    description: "Tells the time.",
    parameters: { type: "object" },
  });
  const { framePrompt } = createFraming(await loadTokenizer(folder));
  expect(framePrompt([{ role: "user", content: "Hi" }], [tool]).text).toContain("now()");
});
