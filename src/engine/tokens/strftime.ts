import { EverturnError } from "../../base/errors/everturn-error.ts";

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** Formats a date (UTC) like C's `strftime` in English. Throws CHAT_TEMPLATE_FAILED for unknown directives. */
export function strftime(date: Date, form: string): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = days[date.getUTCDay()] ?? "";
  const month = months[date.getUTCMonth()] ?? "";
  const written: Record<string, string> = {
    "%Y": String(date.getUTCFullYear()),
    "%y": two(date.getUTCFullYear() % 100),
    "%F": date.toISOString().slice(0, 10),
    "%T": date.toISOString().slice(11, 19),
    "%I": two(date.getUTCHours() % 12 || 12),
    "%p": date.getUTCHours() < 12 ? "AM" : "PM",
    "%-d": String(date.getUTCDate()),
    "%-m": String(date.getUTCMonth() + 1),
    "%e": String(date.getUTCDate()).padStart(2),
    "%m": two(date.getUTCMonth() + 1),
    "%d": two(date.getUTCDate()),
    "%H": two(date.getUTCHours()),
    "%M": two(date.getUTCMinutes()),
    "%S": two(date.getUTCSeconds()),
    "%A": day,
    "%a": day.slice(0, 3),
    "%B": month,
    "%b": month.slice(0, 3),
    "%%": "%",
  };
  return form.replaceAll(/%-?.?/gsu, (directive) => {
    const text = written[directive];
    if (text !== undefined) return text;
    const reason = `strftime_now is asked for ${JSON.stringify(directive)}, which is not supported`;
    throw new EverturnError("CHAT_TEMPLATE_FAILED", { reason });
  });
}
