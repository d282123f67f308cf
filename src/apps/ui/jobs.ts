import { spawn } from "node:child_process";
import { ownModule } from "../../base/processes/own-module.ts";

/** A command that a page has started. */
export interface Job {
  number: number;
  /** The command as a person would type it. */
  command: string;
  /** Its output so far, at most the last 100,000 characters. */
  output: string;
  /** 0 if it succeeded; undefined while it works. */
  exitCode: number | undefined;
}

/** Commands that pages start. Each is a process, as if it had been typed. */
export interface Jobs {
  start(words: readonly string[]): Job;
  find(number: number): Job | undefined;
  /** Ends the running ones. */
  close(): void;
}

const mostOutput = 100_000;

/** Starts jobs with `everturn`'s commands. */
export function openJobs(): Jobs {
  const jobs = new Map<number, Job>();
  const working = new Set<ReturnType<typeof spawn>>();
  return {
    find: (number) => jobs.get(number),
    start: (words) => {
      const number = jobs.size + 1;
      const job: Job = { number, command: ["everturn", ...words].join(" "), output: "", exitCode: undefined };
      jobs.set(number, job);
      const child = spawn(process.execPath, [...process.execArgv, ownModule("src/apps/cli/main"), ...words], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      working.add(child);
      const add = (text: unknown) => {
        job.output = `${job.output}${text}`.slice(-mostOutput);
      };
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", add);
      child.on("error", add);
      child.on("close", (code, signal) => {
        working.delete(child);
        if (signal !== null) add(`\nended by ${signal}`);
        job.exitCode = code ?? 1;
      });
      return job;
    },
    close: () => {
      for (const child of working) child.kill("SIGTERM");
    },
  };
}
