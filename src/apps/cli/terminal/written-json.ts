import { once } from "node:events";

/** Writes to standard output, and waits while nobody reads it, so that output does not pile up in memory. */
export async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

/** A line of JSON that is written in parts: an object whose first member is a list that may be long. */
export interface WrittenJson {
  add(items: readonly unknown[]): Promise<void>;
  /** Ends the list, and adds the other members. */
  end(rest: object): Promise<void>;
}

/** Begins the line. */
export function writtenJson(list: string): WrittenJson {
  let before = `{${JSON.stringify(list)}:[`;
  return {
    add: async (items) => {
      if (items.length === 0) return;
      await writeOut(before + items.map((item) => JSON.stringify(item)).join());
      before = ",";
    },
    end: async (rest) => {
      const members = JSON.stringify(rest).slice(1);
      await writeOut(`${before === "," ? "" : before}],${members}\n`);
    },
  };
}
