import { tool } from "ai";
import { wrapTool } from "everturn/plugin";
import { expect, test } from "vitest";
import { z } from "zod";
import { isObject } from "../../../../src/contracts/json.ts";
import { definitionOf } from "../../../../src/plugin/define/definition-of.ts";
import { foreignTool } from "../../../../src/plugin/registry/foreign/foreign-tool.ts";
import { argumentsValidator } from "../../../../src/plugin/registry/validate-arguments.ts";
import * as tools from "../../../one-file/foreign.ts";

const execution = {
  instance: "",
  function: "",
  key: "run/step-0001/task-1/0/1/0",
  attempt: 1,
  config: {},
  isReplay: false,
  signal: new AbortController().signal,
};

/** What a tool answers whose host or arguments are at fault in this way. */
function answerTo(thrown: unknown) {
  const failing = tool({
    description: "Fails.",
    inputSchema: z.object({}),
    execute: (): string => {
      throw thrown;
    },
  });
  return foreignTool(failing, "failing")?.execute({}, execution, undefined);
}

test("what a tool of another ecosystem throws is told to the model, but for what its host or its author got wrong", async () => {
  expect(await answerTo(new Error("no such city"))).toEqual({ text: "error: no such city", error: true });
  expect(await answerTo(Object.assign(new Error("not found"), { status: 404 }))).toMatchObject({
    error: true,
  });
  const failures = [
    Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" }),
    new Error("Cannot connect to API", { cause: Object.assign(new Error(), { code: "UND_ERR_SOCKET" }) }),
    new TypeError("fetch failed", { cause: new Error("ENOTFOUND") }),
    Object.assign(new Error("busy"), { statusCode: 429 }),
    Object.assign(new Error("down"), { status: 503 }),
    new DOMException("late", "TimeoutError"),
    new TypeError("x is not a function"),
    "a text",
  ];
  for (const failure of failures) await expect(answerTo(failure)).rejects.toBe(failure);
});

const unknown = { text: "error: there is no city Atlantis", error: true };

test.each([
  ["weather", "weather", '{"degrees":3,"unit":"C"}', unknown],
  ["brief", "brief", "It is cold.", unknown],
] as const)("a tool of the AI SDK is translated: %s", async (name, toolName, ofOslo, ofAtlantis) => {
  const all = { ...tools };
  const found = definitionOf(all, { path: "foreign.ts", name, kind: "tool" });
  if (!("definition" in found)) throw new Error(found.finding.reason);
  const { said, schemas } = found.definition;
  expect(said.name).toBe(toolName);
  const told = schemas.parameters;
  const parameters = told && "schema" in told ? told.schema : said.parameters;
  const wrong = argumentsValidator(isObject(parameters) ? parameters : {});
  expect(wrong({ city: "Oslo" })).toBeUndefined();
  expect(wrong({ city: 3 })).toContain("city must be text, but is 3.");
  const translated = foreignTool(all[name], name);
  expect(await translated?.execute({ city: "Oslo" }, execution, undefined)).toMatchObject({ text: ofOslo });
  expect(await translated?.execute({ city: "Atlantis" }, execution, undefined)).toMatchObject(ofAtlantis);
});

test("the call's key and signal are the tool's toolCallId and abortSignal", async () => {
  const asked = tool({
    inputSchema: z.object({}),
    execute: (_, { toolCallId, abortSignal }) => [toolCallId, abortSignal === execution.signal],
  });
  const answer = await foreignTool(asked, "asked")?.execute({}, execution, undefined);
  expect(answer).toEqual({ text: `["${execution.key}",true]` });
});

test("texts and images in parts stay what they are", async () => {
  const image = "iVBORw0KGgo=";
  const asked = (output: unknown) =>
    foreignTool({ type: "function", name: "it", parameters: {}, invoke: () => output }, "")?.execute(
      {},
      execution,
      undefined,
    );
  const text = { type: "text", text: "seen" };
  const png = { type: "image", data: image, mediaType: "image/png" };
  expect(await asked([text, { type: "image", image: { data: image, mediaType: "image/png" } }])).toEqual({
    content: [text, png],
  });
  expect(await asked({ type: "image_url", image_url: { url: `data:image/png;base64,${image}` } })).toEqual({
    content: [png],
  });
  expect(await asked([{ type: "media", data: image, mediaType: "image/png" }])).toEqual({ content: [png] });
  expect(
    await asked([
      { type: "image", image: "https://example.org/a.png" },
      { type: "file", fileId: "f" },
    ]),
  ).toEqual({
    content: [
      { type: "text", text: "[image]" },
      { type: "text", text: "[file]" },
    ],
  });
  expect(await asked([1, 2])).toEqual({ text: "[1,2]" });
});

test("what is no tool of another ecosystem is none, and is not wrapped", () => {
  for (const value of [undefined, "text", () => 1, {}, { execute: () => 1 }, { inputSchema: {} }])
    expect(foreignTool(value, "it")).toBeUndefined();
  expect(() => wrapTool({ execute: () => 1 }, { name: "it" })).toThrowErrorMatchingInlineSnapshot(
    `[TypeError: wrapTool: this is not a tool of the AI SDK, LangChain.js, Mastra or OpenAI's agents SDK]`,
  );
});
