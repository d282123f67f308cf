import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const original = join(import.meta.dirname, "..", "plugins", "loop-drill");

/** A copy of the chaos pipeline's agent loop whose code can be changed: it does the same, but is another build. */
export interface ChangingLoop {
  folder: string;
  change(): void;
}

/** Copies the loop into `work`. */
export function changingLoop(work: string): ChangingLoop {
  const folder = join(work, "loop-drill");
  mkdirSync(folder, { recursive: true });
  cpSync(original, folder, { recursive: true });
  const code = readFileSync(join(original, "workflow.ts"), "utf8");
  let build = 0;
  return {
    folder,
    change: () => {
      const other = code.replace("context.config.turns", `context.config.turns ?? ${++build}`);
      writeFileSync(join(folder, "workflow.ts"), other);
    },
  };
}
