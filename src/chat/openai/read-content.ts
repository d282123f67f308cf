import { defined } from "../../base/records/defined.ts";
import { isObject } from "../../contracts/json.ts";
import { type EndpointProblem, invalid } from "./endpoint-problem.ts";
import { type Field, fieldOf, isAbsent, kindOf, listIn, objectIn, textIn } from "./fields.ts";
import type { EndpointMessage, SentImage } from "./model-request.ts";

/** Types of parts that are text, with the field that contains it. */
const textFields: Readonly<Record<string, string>> = {
  text: "text",
  input_text: "text",
  output_text: "text",
  summary_text: "text",
  reasoning_text: "text",
  refusal: "refusal",
};

/**
 * A content as one text: its own, or the texts of its parts, each on lines of its own. It rejects images and other
 * media, and replaces unpaired surrogates by U+FFFD.
 */
export function contentIn(field: Field): string {
  if (typeof field.value === "string") return field.value.toWellFormed();
  if (!Array.isArray(field.value))
    throw invalid(field.at, `is ${kindOf(field.value)}: send a text, or a list of parts`);
  return listIn(field).map(partText).join("\n");
}

/**
 * A content that may have images: its texts, joined as `contentIn` does, and its images with their places. The
 * images are not read yet.
 */
export function contentWithImages(field: Field): Pick<EndpointMessage, "content" | "sentImages"> {
  if (!Array.isArray(field.value)) return { content: contentIn(field) };
  const texts: string[] = [];
  const sentImages: SentImage[] = [];
  for (const part of listIn(field)) {
    const { type, image_url: linked } = objectIn(part);
    if (type !== "image_url" && type !== "input_image") {
      texts.push(partText(part));
      continue;
    }
    const at = fieldOf(objectIn(part), "image_url", part.at);
    const url = isObject(linked) ? textIn(fieldOf(linked, "url", at.at)) : textIn(at);
    sentImages.push({ field: part.at, type, url, at: texts.join("\n").length });
  }
  return defined({ content: texts.join("\n"), sentImages: sentImages.length === 0 ? undefined : sentImages });
}

/** Throws EndpointProblem if a message has an image, for models that only read text. */
export function refuseImages(messages: readonly EndpointMessage[]): void {
  const [image] = messages.flatMap(({ sentImages = [] }) => sentImages);
  if (image !== undefined) throw textAlone(image.field, image.type);
}

function textAlone(field: string, type: unknown): EndpointProblem {
  return invalid(
    field,
    `is of type ${kindOf(type)}, and this model reads texts alone: send parts of type "text" or "input_text"`,
    "unsupported_content",
  );
}

/** Like `contentIn`, but null or a missing field becomes "". */
export function optionalContent(field: Field): string {
  return isAbsent(field) ? "" : contentIn(field);
}

function partText(field: Field): string {
  const part = objectIn(field);
  const type = fieldOf(part, "type", field.at);
  const name = textFields[textIn(type)];
  if (name === undefined) throw textAlone(field.at, type.value);
  return textIn(fieldOf(part, name, field.at)).toWellFormed();
}
