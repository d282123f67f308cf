import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The names in Debian, Fedora, Google's packages and Playwright's images, and the path on macOS. */
const usual = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "chrome-headless-shell",
  "/usr/bin/chromium",
  "/opt/google/chrome/chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * Returns the path of the Chromium to start: `named`, or the first usual one that runs. Throws with what to
 * install.
 */
export async function findExecutable(named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  for (const name of usual) {
    const path = await pathOf(name);
    if (path !== undefined) return path;
  }
  throw new Error(
    "there is no Chromium on this machine: install one (apt-get install chromium; brew install chromium) or name its program by “executable” of tool-browser",
  );
}

async function pathOf(name: string): Promise<string | undefined> {
  const found = await promisify(execFile)("/bin/sh", ["-c", 'command -v -- "$1"', "sh", name]).catch(
    () => undefined,
  );
  return found?.stdout.trim() || undefined;
}
