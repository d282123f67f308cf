import { defineTool } from "everturn/plugin";

/** A red dot, 5×5 pixels. */
const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";

/** Returns an image. */
export default defineTool({
  name: "picture",
  description: "Takes a picture.",
  parameters: { type: "object", additionalProperties: false, properties: {} },
  execute: () => ({ text: "the picture:", content: [{ type: "image", data: dot }] }),
});
