import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findInterpreters, type Interpreters, onPath } from "../interpreters.ts";

/** bubblewrap on this machine. */
export interface Bubblewrap {
  bwrap: string;
  /** Whether it supports `--disable-userns` (since 0.8). */
  canDisableNamespaces: boolean;
}

/** The parts of a sandbox on this machine. */
export interface Machine extends Bubblewrap, Interpreters {}

/** Finds bubblewrap, or returns what is missing with a remedy. */
export async function findBubblewrap(): Promise<Bubblewrap | { missing: string }> {
  const bwrap = onPath("bwrap");
  if (bwrap === undefined) return { missing: "bwrap is not on PATH; install the package bubblewrap" };
  const { stdout } = await promisify(execFile)(bwrap, ["--help"]);
  return { bwrap, canDisableNamespaces: stdout.includes("--disable-userns") };
}

/** Finds bubblewrap and the interpreters, or returns what is missing with a remedy. */
export async function findMachine(): Promise<Machine | { missing: string }> {
  const bubblewrap = await findBubblewrap();
  if (process.platform === "linux" && "missing" in bubblewrap) return bubblewrap;
  const interpreters = findInterpreters();
  if ("missing" in interpreters) return interpreters;
  if ("missing" in bubblewrap) return { missing: "bwrap is not on PATH" };
  return { ...interpreters, ...bubblewrap };
}
