import { defineTool } from "everturn/plugin";
import prices from "../data/prices.json" with { type: "json" };

const known = new Map<string, number>(Object.entries(prices));

export default defineTool({
  name: "price",
  description: "What an item of the shop costs, in euros.",
  parameters: {
    type: "object",
    additionalProperties: false,
    required: ["item"],
    properties: { item: { type: "string", description: "The item's number, such as B42." } },
  },
  execute({ item }) {
    // What the model got wrong is an answer, which it reads. What your infrastructure got wrong is a throw: it is tried again.
    return known.get(item) ?? { text: `error: there is no item ${item}`, error: true };
  },
});
