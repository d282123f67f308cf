import demonstrationSchema from "../../../../schemas/demonstration.schema.json" with { type: "json" };
import preferenceSchema from "../../../../schemas/preference.schema.json" with { type: "json" };
import { EverturnError, isEverturnError } from "../../../base/errors/everturn-error.ts";
import { parseJsonLines, standsAs } from "../../../base/validation/json-lines.ts";
import { displayPath, type Place } from "../../../base/validation/place.ts";
import { type Problem, refusal } from "../../../base/validation/problem.ts";
import { readText } from "../../../base/validation/read-text.ts";
import { validatorOf } from "../../../base/validation/validator.ts";
import type { Preference } from "../../../contracts/generated/preference.ts";
import { type DemonstratedChat, demonstratedChat } from "./demonstrated-chat.ts";
import { placeOfRow } from "./row-problems.ts";
import { noRowTools, type RowTools } from "./row-tools.ts";

const validator = validatorOf<Preference>(preferenceSchema, demonstrationSchema);

/** A pair of answers, each with the prompt. The prompt's messages carry no loss. */
export interface PreferredChats {
  chosen: DemonstratedChat;
  rejected: DemonstratedChat;
}

/**
 * Reads a preferences file (JSON Lines), by default without the tools of its rows. Throws WRONG_CONFIGURATION with line
 * and column of each bad row.
 */
export async function readPreferences(
  path: string,
  rowTools: RowTools = noRowTools,
): Promise<PreferredChats[]> {
  const rows = parseJsonLines(readText(path), path, validator());
  const problems: Problem[] = [];
  const pairs = rows.flatMap((row) => {
    const place = placeOfRow(row, displayPath(path));
    try {
      const chat = (side: "chosen" | "rejected") => standsAs(row, answered(row, side, place, rowTools));
      return [{ chosen: chat("chosen"), rejected: chat("rejected") }];
    } catch (error) {
      if (!isEverturnError(error)) throw error;
      problems.push({ place, error });
      return [];
    }
  });
  if (problems.length > 0) throw refusal(displayPath(path), problems);
  return pairs;
}

function answered(
  { prompt, ...row }: Preference,
  side: "chosen" | "rejected",
  place: Place,
  rowTools: RowTools,
): DemonstratedChat {
  if (!row[side].some(({ role }) => role === "assistant")) {
    throw new EverturnError("WRONG_VALUE", {
      at: place.text,
      where: side,
      actual: "without one of the assistant's messages",
      expected: "must have an answer",
      hint: "Add the assistant's message, or remove the row.",
    });
  }
  const chat = demonstratedChat({ ...row, messages: [...prompt, ...row[side]] }, place.text, rowTools);
  return { ...chat, given: new Set(prompt.keys()) };
}
