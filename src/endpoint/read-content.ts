import { invalid } from "./endpoint-problem.ts";
import { type Field, fieldOf, isAbsent, kindOf, listIn, objectIn, textIn } from "./fields.ts";

/** Parts that are texts, and in which field each has it. */
const texts: Readonly<Record<string, string>> = {
  text: "text",
  input_text: "text",
  output_text: "text",
  summary_text: "text",
  reasoning_text: "text",
  refusal: "refusal",
};

/** A content as one text: a text, or the texts of its parts, each on lines of its own. Images and other media are refused, halves of characters become U+FFFD. */
export function contentIn(field: Field): string {
  if (typeof field.value === "string") return field.value.toWellFormed();
  if (!Array.isArray(field.value))
    throw invalid(field.at, `is ${kindOf(field.value)}: send a text, or a list of parts`);
  return listIn(field).map(partText).join("\n");
}

/** As `contentIn`, where null or nothing stands for "". */
export function optionalContent(field: Field): string {
  return isAbsent(field) ? "" : contentIn(field);
}

function partText(field: Field): string {
  const part = objectIn(field);
  const type = fieldOf(part, "type", field.at);
  const name = texts[textIn(type)];
  if (name === undefined)
    throw invalid(
      field.at,
      `is of type ${kindOf(type.value)}, and this model reads texts alone: send parts of type "text" or "input_text"`,
      "unsupported_content",
    );
  return textIn(fieldOf(part, name, field.at)).toWellFormed();
}
