import { tool } from "ai";
import { z } from "zod";
import list from "../data/prices.json" with { type: "json" };

const prices = new Map<string, number>(Object.entries(list));

export const price = tool({
  description: "What an item of the shop costs, in euros.",
  inputSchema: z.object({ item: z.string().describe("The item's number, such as 664.") }),
  execute({ item }) {
    const found = prices.get(item);
    if (found === undefined) throw new Error(`there is no item ${item}`); // the model reads this
    return found;
  },
});
