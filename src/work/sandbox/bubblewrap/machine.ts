import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findInterpreters, type Interpreters, onPath } from "../interpreters.ts";

/** The parts of a sandbox on this machine. */
export interface Machine extends Interpreters {
  bwrap: string;
  /** Whether bubblewrap supports `--disable-userns` (since 0.8). */
  canDisableNamespaces: boolean;
}

/** Finds bubblewrap and the interpreters, or returns what is missing with a remedy. */
export async function findMachine(): Promise<Machine | { missing: string }> {
  const bwrap = onPath("bwrap");
  if (process.platform === "linux" && bwrap === undefined)
    return { missing: "bwrap is not on PATH; install the package bubblewrap" };
  const interpreters = findInterpreters();
  if ("missing" in interpreters || bwrap === undefined)
    return "missing" in interpreters ? interpreters : { missing: "bwrap is not on PATH" };
  const { stdout } = await promisify(execFile)(bwrap, ["--help"]);
  return { ...interpreters, bwrap, canDisableNamespaces: stdout.includes("--disable-userns") };
}
