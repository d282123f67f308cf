import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** What to generate: a continuation of `limits[i]` tokens for each prompt, none ended before. */
export interface GenerateRequest {
  prompts: number[][];
  limits: number[];
  sampled: boolean;
}

/** What a side made of it, and how long it took from the prompts to the last token. */
export interface GenerateAnswer {
  seconds: number;
  /** What its process spent, all threads together. */
  processorSeconds: number;
  tokens: number[][];
}

/** An answer, and how many of its tokens are new, all rows together. */
export interface Generated extends GenerateAnswer {
  generated: number;
}

/** One side of the comparison: a process of its own, with the model loaded. */
export interface Side {
  generate(request: GenerateRequest): Promise<Generated>;
  close(): void;
}

/** Starts a side; undefined, with its last words printed, if it can't run here. */
export async function startSide(name: string, command: string, args: string[]): Promise<Side | undefined> {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  const gone = once(child, "exit").then(() => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string | undefined> => {
    const next = await Promise.race([lines.next(), gone]);
    return typeof next?.value === "string" ? next.value : undefined;
  };
  if ((await line()) === undefined) {
    console.log(`${name} does not run here: ${errors.trim().split("\n").at(-1)}`);
    return undefined;
  }
  return {
    async generate(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const text = await line();
      if (text === undefined) throw new Error(`${name} ended: ${errors.trim()}`);
      const generated = request.limits.reduce((sum, limit) => sum + limit, 0);
      return { ...JSON.parse(text), generated };
    },
    close: () => child.stdin.end(),
  };
}
