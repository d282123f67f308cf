import { defined } from "../../src/base/records/defined.ts";
import { claimRun } from "../../src/control/supervision/claim-run.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";

/** Works on a run, as far as its session file goes, until it is told to end: `<runs> <run> [<silence in ms>]`. */
const [runs = "", run = "", silence = ""] = process.argv.slice(2);
const note = (text: string) => void process.stdout.write(`${text}\n`);
try {
  const held = await claimRun(
    run,
    runFolder(runs, run),
    defined({
      note,
      silence: silence === "" ? undefined : Number(silence),
    }),
  );
  note("holds it");
  held.taken.catch((error) => {
    note(error.message);
    process.exit();
  });
  process.on("SIGTERM", async () => {
    await held.release();
    process.exit();
  });
  setInterval(() => {}, 1000);
} catch (error) {
  note(String(error));
}
