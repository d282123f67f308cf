import { defineTool } from "everturn/plugin";
import list from "../data/prices.json" with { type: "json" };

const prices = new Map<string, number>(Object.entries(list));
const text = { type: "string", description: "The item's number, such as 664." } as const;

export default defineTool({
  name: "price",
  description: "What an item of the shop costs, in euros.",
  parameters: { type: "object", properties: { item: text }, required: ["item"], additionalProperties: false },
  // Return the model's mistakes as answers. Throw if your infrastructure fails: Everturn then retries the call.
  execute: ({ item }) => prices.get(item) ?? { text: `error: there is no item ${item}`, error: true },
});
