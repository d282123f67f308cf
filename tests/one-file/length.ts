import { defineTool } from "everturn/plugin";
import { z } from "zod";

const metres = { m: 1, km: 1000 };

export default defineTool({
  name: "length",
  description: "A length in metres.",
  parameters: z.object({
    value: z.number().refine((value) => value >= 0, "a length is not negative"),
    unit: z.enum(["m", "km"]).default("m"),
  }),
  config: {
    type: "object",
    additionalProperties: false,
    properties: { digits: { type: "integer", default: 0 } },
  },
  execute: ({ value, unit }, { config }) => (value * metres[unit]).toFixed(config.digits),
});
