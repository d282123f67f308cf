import { jsonText } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { enclosing } from "./scan.ts";
import { type Tags, taggedCalls, taggedEnd, unopened } from "./tagged-calls.ts";

const [open, close] = ["<tool_call>", "</tool_call>"];
const example = `${open}\n<function=NAME>\n<parameter=ARGUMENT>\nVALUE\n</parameter>\n</function>\n${close}`;

const tags: Tags = {
  call: /<function=([^<>\n]+)>/y,
  callOpen: "<function=",
  callClose: { tag: "</function>", optional: true },
  argument: /<parameter=([^<>\n]+)>/y,
  argumentOpen: "<parameter=",
  argumentClose: "</parameter>",
  unwrapped: withoutLineEnds,
  closes: ["<function=", close],
};

/** XML with names in the tags. Texts are written unquoted, other values as JSON. */
export const qwen3Coder = markedFormat({
  name: "qwen3-coder",
  models: "Qwen3-Coder, Qwen 3.5, Nemotron 3 Nano, Step 3.5",
  example,
  marks: [enclosing({ open, close, starts: "<" }, taggedEnd(tags)), unopened("<function=", close, tags)],
  calls: (text, tools) => taggedCalls(text, { tags, example, tools }),
  render: (calls) =>
    calls
      .map(({ name, arguments: given }) => {
        const parameters = Object.entries(given).map(
          ([key, value]) =>
            `<parameter=${key}>\n${typeof value === "string" ? value : jsonText(value)}\n</parameter>\n`,
        );
        return `${open}\n<function=${name}>\n${parameters.join("")}</function>\n${close}`;
      })
      .join("\n"),
});

/** Removes the line ends around a value, which is written on lines of its own. */
function withoutLineEnds(value: string): string {
  const [first = ""] = /^\r?\n/.exec(value) ?? [];
  const last = first === "\r\n" ? /\r\n$/ : /\n$/;
  return value.slice(first.length).replace(last, "");
}
