import { mkdir, open } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { TrackedRun, TrackedTable, TrackerPlugin } from "everturn/plugin";
import { type Event, encodeEvent, type TextTable } from "./event.ts";
import { framed } from "./record-file.ts";

/** Writes event files for TensorBoard (config: `folder`, `tables`): one for each start or continuation of the run. */
const tensorboard: TrackerPlugin<{ folder?: string; tables?: boolean }> = {
  async open({ folder, tables: withTables = true }, run) {
    const place = folder === undefined ? join(run.folder, "tensorboard") : join(folder, run.run);
    await mkdir(place, { recursive: true });
    const begun = Date.now();
    const second = String(Math.floor(begun / 1000)).padStart(10, "0");
    const path = join(place, `events.out.tfevents.${second}.${hostname()}.${process.pid}.${run.logged}`);
    const file = await open(path, "a");
    const add = (event: Event) => file.appendFile(framed(encodeEvent(event)));
    await add({ at: begun, fileVersion: "brain.Event:2" });
    if (run.logged === 0) await add({ at: begun, texts: { pipeline: settingsText(run) } });
    return {
      log: ({ at, step, values, histograms = {}, tables = {} }) => {
        const entries = Object.entries(withTables ? tables : {});
        const texts = Object.fromEntries(entries.map(([name, table]) => [name, textTable(table)]));
        return add({ at, step, values, histograms, tables: texts });
      },
      close: () => file.close(),
    };
  },
};

export default tensorboard;

/** The settings as Markdown, which TensorBoard shows. */
function settingsText({ settings }: TrackedRun): string {
  return `\`\`\`json\n${JSON.stringify(settings, null, 2)}\n\`\`\``;
}

/** A table with a row of titles. Its texts are in code blocks, so TensorBoard shows them unchanged. */
function textTable({ columns, rows }: TrackedTable): TextTable {
  const cell = (value: string | number | boolean) =>
    typeof value === "string" ? codeBlock(value) : String(value);
  return [columns.map((column) => `**${column}**`), ...rows.map((row) => row.map(cell))];
}

/** The block's fence is longer than any in the text. */
function codeBlock(text: string): string {
  const inside = text.match(/`+/g)?.map(({ length }) => length) ?? [];
  const fence = "`".repeat(Math.max(2, ...inside) + 1);
  return text === "" ? "" : `${fence}\n${text}\n${fence}`;
}
