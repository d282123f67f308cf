const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** A date (UTC) as C's `strftime` writes it, in the directives that chat templates use; others stay as they are. */
export function strftime(date: Date, form: string): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = days[date.getUTCDay()] ?? "";
  const month = months[date.getUTCMonth()] ?? "";
  const written: Record<string, string> = {
    "%Y": String(date.getUTCFullYear()),
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
  return form.replaceAll(/%./g, (directive) => written[directive] ?? directive);
}
