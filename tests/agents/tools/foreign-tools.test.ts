import { expect, test } from "vitest";
import { expectTranslated } from "../../support/expect-translated.ts";
import * as tools from "./foreign.ts";

const unknown = { text: "error: there is no city Atlantis", error: true };

test.each([
  ["langchain", "langchain_weather", "3 C", unknown],
  ["mastra", "mastra_weather", '{"degrees":3,"unit":"C"}', unknown],
  [
    "openai",
    "openai_weather",
    "3",
    { text: expect.stringContaining("An error occurred while running the tool") },
  ],
] as const)("a tool of a framework's own package is translated: %s", (name, toolName, ofOslo, ofAtlantis) =>
  expectTranslated({ ...tools }, name, toolName, ofOslo, ofAtlantis),
);
