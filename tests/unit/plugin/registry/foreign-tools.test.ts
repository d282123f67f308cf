import { tool } from "ai";
import { wrapTool } from "everturn/plugin";
import { expect, test } from "vitest";
import { z } from "zod";
import { foreignTool } from "../../../../src/plugin/registry/foreign/foreign-tool.ts";
import * as tools from "../../../one-file/foreign.ts";
import { execution, expectTranslated } from "../../../support/expect-translated.ts";

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
] as const)("a tool of the AI SDK is translated: %s", (name, toolName, ofOslo, ofAtlantis) =>
  expectTranslated({ ...tools }, name, toolName, ofOslo, ofAtlantis),
);

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
