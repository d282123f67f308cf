import { jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { enclosing } from "./scan.ts";
import { type Tags, taggedCalls, taggedEnd } from "./tagged-calls.ts";

const [open, close] = ["<tool_call>", "</tool_call>"];
const example = `${open}NAME\n<arg_key>ARGUMENT</arg_key>\n<arg_value>VALUE</arg_value>\n${close}`;

const tags: Tags = {
  call: /([^\s<>{}"]+)/y,
  argument: /<arg_key>([^<>]+)<\/arg_key>\s*<arg_value>/y,
  argumentOpen: "<arg_key>",
  argumentClose: "</arg_value>",
  closes: [close],
};

/** Pairs of tags for names and values. Texts are written unquoted, other values as JSON. */
export const glm = markedFormat({
  name: "glm-4.5",
  models: "GLM 4.5, 4.6 and 4.7, Ling 3, Laguna, Spark 2.5",
  example,
  marks: [enclosing({ open, close }, taggedEnd(tags))],
  calls: (text, tools) => taggedCalls(text, { tags, example, tools }),
  render: (calls) =>
    calls
      .map(({ name, arguments: given }) => {
        const pairs = Object.entries(given).map(([key, value]) => {
          const written = typeof value === "string" ? value : jsonText(value);
          return `<arg_key>${key}</arg_key>\n<arg_value>${written}</arg_value>\n`;
        });
        return `${open}${name}\n${pairs.join("")}${close}`;
      })
      .join("\n"),
});
