import { defineTool } from "everturn/plugin";

const metres = { m: 1, km: 1000, mi: 1609.344 };

export default defineTool({
  name: "plugin_name",
  description: "Converts a length between metres, kilometres and miles.",
  parameters: {
    type: "object",
    additionalProperties: false,
    required: ["value", "from", "to"],
    properties: {
      value: { type: "number" },
      from: { enum: ["m", "km", "mi"] },
      to: { enum: ["m", "km", "mi"] },
    },
  },
  execute({ value, from, to }) {
    return String((value * metres[from]) / metres[to]);
  },
});
