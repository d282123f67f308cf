import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contracts/json.ts";
import type { ToolDefinition } from "../../../../src/contracts/message.ts";
import type { DemonstratedTool } from "../../../../src/contracts/plan.ts";
import { differencesOfTools, toolDifferences } from "../../../../src/results/diagnosis/tool-differences.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeTurn } from "../../../support/written-turn.ts";

const tool = (name: string, city: JsonObject = { type: "string" }, description = `Uses ${name}.`) => ({
  name,
  description,
  parameters: { type: "object", properties: { city }, required: ["city"] },
});

test("each difference is listed with the path of the first one, whatever the order", () => {
  const demonstrated: DemonstratedTool[] = [
    tool("weather"),
    tool("map"),
    { ...tool("time"), sometimes: true },
  ];
  expect(toolDifferences([tool("map"), tool("weather")], demonstrated)).toEqual([]);
  const swapped = { ...tool("weather"), parameters: { ...tool("weather").parameters, type: "object" } };
  expect(toolDifferences([swapped, tool("map"), tool("time")], demonstrated)).toEqual([]);
  expect(toolDifferences([tool("weather", { type: "number" }), tool("sum")], demonstrated)).toEqual([
    "the agent offers sum, which no demonstration shows",
    "the demonstrations show map, which the agent does not offer",
    'weather: parameters.properties.city.type is "number", but "string" in the demonstrations',
  ]);
  const described = { type: "string", description: "The city." };
  expect(toolDifferences([tool("map", described), tool("weather", undefined, "")], demonstrated)).toEqual([
    'map: parameters.properties.city.description is "The city.", but absent in the demonstrations',
    'weather: description is "", but "Uses weather." in the demonstrations',
  ]);
});

test("long texts are shown around the place where they differ", () => {
  const long = `${"Finds the weather of a city. ".repeat(5)}In degrees`;
  const [own, shown] = [tool("weather", undefined, `${long} F.`), tool("weather", undefined, `${long} C.`)];
  expect(toolDifferences([own], [shown])).toEqual([
    'weather: description is … a city. In degrees F.", but … a city. In degrees C." in the demonstrations',
  ]);
});

/** A run whose plan has demonstrations of `weather`; each trajectory has one turn with this request and prompt. */
async function runOf(...turns: { tools?: ToolDefinition[]; prompt: string }[]) {
  const store = openRunStore(temporaryFolder());
  const options = { steps: 1, batchSize: 2, tasks: 2, warmStart: true, evaluationEvery: 0 };
  const plan = { ...samplePlan(options), demonstratedTools: [tool("weather")] };
  const names = turns.map((_, sample) => ({ stage: "step-0001", task: "task-00000", sample }));
  for (const [index, { tools, prompt }] of turns.entries()) {
    const action = { previous: null, origin: "action" as const, text: "", tokens: [2] };
    const appended = { previous: null, origin: "prompt" as const, text: prompt, tokens: [1] };
    const request = { key: "k", follows: null, messages: [], ...(tools && { tools }) };
    const name = names[index];
    if (name !== undefined)
      await writeTurn(store, name, 1, [appended, action], tools === undefined ? {} : { request });
  }
  return { run: { plan, store }, names };
}

test("the first agent's first prompt is compared with the demonstrations, as it was recorded", async () => {
  const other = await runOf({ prompt: "the turn of a loop" }, { tools: [tool("sum")], prompt: "sum(city)" });
  expect(await differencesOfTools(other.run, other.names)).toEqual([
    "the agent offers sum, which no demonstration shows",
    "the demonstrations show weather, which the agent does not offer",
  ]);
  const same = await runOf({ tools: [tool("weather")], prompt: "weather(city)" });
  expect(await differencesOfTools(same.run, same.names)).toBeUndefined();
  const { demonstratedTools: _, ...earlier } = other.run.plan;
  expect(await differencesOfTools({ ...other.run, plan: earlier }, other.names)).toBeUndefined();
});

test("only tools that the prompt shows count", async () => {
  const hidden = await runOf({ tools: [tool("weather")], prompt: "Hi" });
  expect(await differencesOfTools(hidden.run, hidden.names)).toEqual([
    "the demonstrations show weather, which the agent does not offer",
  ]);
  const neither = { ...hidden.run, plan: { ...hidden.run.plan, demonstratedTools: [] } };
  expect(await differencesOfTools(neither, hidden.names)).toBeUndefined();
});
