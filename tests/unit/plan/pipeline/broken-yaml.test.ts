import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { fileOf, refused, withPipeline, workspace } from "./workspace.ts";

async function missing(name: string): Promise<string> {
  const folder = workspace();
  const loading = loadPlan(join(folder, name));
  const message = await loading.then(
    () => "accepted",
    (error: Error) => error.message,
  );
  return message.replaceAll(`${folder}/`, "");
}

describe("a file that is no pipeline is refused", () => {
  it("an empty file", async () => {
    expect(await refused({ "pipeline.yaml": "" })).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:1:1: the pipeline is empty. Copy pipelines/calculator.yaml and change it.
      Correct it and run again."
    `);
  });

  it("comments only", async () => {
    expect(await refused({ "pipeline.yaml": "# nothing yet\n" })).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:1:1: the pipeline is empty. Copy pipelines/calculator.yaml and change it.
      Correct it and run again."
    `);
  });

  it("a list", async () => {
    expect(await refused({ "pipeline.yaml": "- name: test\n" })).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:1:1: a pipeline must be a mapping of keys to values, but this is a list. Start with \`name: my-pipeline\`, or copy pipelines/calculator.yaml.
      Correct it and run again."
    `);
  });

  it("plain text", async () => {
    expect(await refused({ "pipeline.yaml": "hello\n" })).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:1:1: a pipeline must be a mapping of keys to values, but this is “hello”. Start with \`name: my-pipeline\`, or copy pipelines/calculator.yaml.
      Correct it and run again."
    `);
  });

  it("two documents", async () => {
    expect(
      await refused({ "pipeline.yaml": `${fileOf("pipeline.yaml")}---\nname: second\n` }),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:24:1: a second YAML document starts here, but a pipeline file contains one document. Remove the \`---\`, or move the second document to its own file.
      Correct it and run again."
    `);
  });

  it("a key written twice", async () => {
    expect(await withPipeline("seed: 7", "seed: 7\nseed: 8")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:3:1: the key “seed” appears twice in one mapping. Line 2 already contains it. Remove one of the two.
      Correct it and run again."
    `);
  });

  it("a tab", async () => {
    expect(await withPipeline("  batchSize: 8", "\tbatchSize: 8")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:21:1: not valid YAML: a tab is used for indentation. Indent with spaces.
      Correct it and run again."
    `);
  });

  it("wrong indentation", async () => {
    expect(await withPipeline("  groupSize: 2", "   groupSize: 2")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:22:13: not valid YAML: this fits neither the mapping above it nor a new one. Give the keys of one mapping the same indentation; put a text that holds “: ” or starts with @, \`, % or a bracket in quotes.
      Correct it and run again."
    `);
  });

  it("no space after a colon", async () => {
    expect(await refused({ "pipeline.yaml": "name:test\nsteps: 2\n" })).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:1:6: not valid YAML: a space is missing after the colon. Add it.
      Correct it and run again."
    `);
  });

  it("a bracket that isn't closed", async () => {
    expect(
      await withPipeline("retry: { maximumAttempts: 3 }", "retry: { maximumAttempts: 3"),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:14:1: not valid YAML: a [, { or quote that was opened before is still open here. Close it, or indent this line further than the one that opened it.
      Correct it and run again."
    `);
  });

  it("a quote that isn't closed", async () => {
    expect(await withPipeline("name: test", 'name: "test')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:2:1: not valid YAML: a [, { or quote that was opened before is still open here. Close it, or indent this line further than the one that opened it.
      Correct it and run again."
    `);
  });

  it("a colon in plain text", async () => {
    expect(await withPipeline("name: test", "name: test: two")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:1:11: not valid YAML: this fits neither the mapping above it nor a new one. Give the keys of one mapping the same indentation; put a text that holds “: ” or starts with @, \`, % or a bracket in quotes.
      Correct it and run again."
    `);
  });

  it("an alias without an anchor", async () => {
    expect(await withPipeline("steps: 2", "steps: *two")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:3:9: not valid YAML: unidentified alias "two". Put the text in quotes if no alias was meant.
      Correct it and run again."
    `);
  });

  it("an alias inside what it names", async () => {
    expect(
      await withPipeline("config:\n    learningRate: 1e-4", "config: &all { learningRate: *all }"),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:18:32: not valid YAML: an alias stands inside what it names. Write the value out.
      Correct it and run again."
    `);
  });

  it("a tag", async () => {
    expect(await withPipeline("steps: 2", "steps: !!python/int 2")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:3:8: not valid YAML: unknown scalar tag !<tag:yaml.org,2002:python/int>. Remove the tag; a pipeline needs none.
      Correct it and run again."
    `);
  });

  it("a file that doesn't exist", async () => {
    expect(await missing("pipelin.yaml")).toMatchInlineSnapshot(
      `"There is no pipeline pipelin.yaml. Did you mean “pipeline.yaml”? Pipelines there: pipeline.yaml."`,
    );
  });

  it("a folder that doesn't exist", async () => {
    expect(await missing("pipelines/pipeline.yaml")).toMatchInlineSnapshot(
      `"There is no pipeline pipelines/pipeline.yaml. The folder pipelines doesn't exist."`,
    );
  });
});
