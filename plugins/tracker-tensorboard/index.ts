import { mkdir, open } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { TrackedRun, TrackerPlugin } from "everturn/plugin";
import { type Event, encodeEvent } from "./event.ts";
import { framed } from "./record-file.ts";

/** Writes event files for TensorBoard (config: `folder`): one for each start or continuation of the run. */
const tensorboard: TrackerPlugin<{ folder?: string }> = {
  async open({ folder }, run) {
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
      log: ({ at, step, values }) => add({ at, step, values }),
      close: () => file.close(),
    };
  },
};

export default tensorboard;

/** The settings as Markdown, which TensorBoard shows. */
function settingsText({ settings }: TrackedRun): string {
  return `\`\`\`json\n${JSON.stringify(settings, null, 2)}\n\`\`\``;
}
