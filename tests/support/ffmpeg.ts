import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";
import { fetchWheel } from "../../src/base/files/wheel.ts";

/** A wheel that has ffmpeg for linux on x64, 30 MB. */
const wheel = {
  name: "imageio-ffmpeg",
  version: "0.6.0",
  sha256: "c7e46fcec401dd990405049d2e2f475e2b397779df2519b544b8aab515195282",
  platform: "manylinux2014_x86_64",
};

/** Whether there is an ffmpeg on PATH; where there is none it is put there, downloaded into the user's cache the first time, or it is said why not. */
export async function ffmpegHere(): Promise<boolean> {
  try {
    const there = isThere();
    if (!there) process.env.PATH = [await unpacked(), process.env.PATH].join(delimiter);
    return there || isThere();
  } catch (error) {
    process.stderr.write(`Tests with ffmpeg are skipped on this machine: ${messageOf(error)}\n`);
    return false;
  }
}

function isThere(): boolean {
  try {
    execFileSync("ffmpeg", ["-version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function unpacked(): Promise<string> {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error("it is for linux on x64 that they fetch ffmpeg");
  const binaries = join(await fetchWheel(wheel), "imageio_ffmpeg", "binaries");
  return cachedFolder(join(cacheFolder(), "tests", "ffmpeg-7.0.2"), async (folder) => {
    const [program] = readdirSync(binaries).filter((name) => name.startsWith("ffmpeg-"));
    if (program === undefined) throw new Error(`there is no program in ${binaries}`);
    copyFileSync(join(binaries, program), join(folder, "ffmpeg"));
    chmodSync(join(folder, "ffmpeg"), 0o755);
  });
}
