import { spawn } from "node:child_process";
import { buffer, text } from "node:stream/consumers";
import { Mistake } from "./mistake.ts";

/** Moments of a video: `count` of them, each in the middle of its share of the time between two seconds. */
export interface Moments {
  count: number;
  from: number;
  to: number;
}

/** The limits of ffmpeg: seconds, pixels of the video, pixels of a frame's longer side. */
interface Bounds {
  time: number;
  pixels: number;
  side: number;
  signal: AbortSignal;
}

/** Restricts ffmpeg: only files, no formats that refer to other files, one thread, no large allocations. */
const held = [
  "-hide_banner",
  "-nostdin",
  "-protocol_whitelist",
  "file",
  "-format_whitelist",
  "mov,matroska,avi,gif,mpegts,mpeg,ogg,flv,asf",
  "-threads",
  "1",
  "-max_alloc",
  String(512 * 2 ** 20),
];

/**
 * Returns frames of a video as JPEGs, with their seconds. Throws Mistake if the moments are outside it, and
 * otherwise an error that explains the problem.
 */
export async function videoFrames(
  file: string,
  moments: Moments,
  bounds: Bounds,
): Promise<{ second: number; data: Uint8Array }[]> {
  const signal = AbortSignal.any([bounds.signal, AbortSignal.timeout(bounds.time * 1000)]);
  const input = [...held, "-max_pixels", String(bounds.pixels)];
  try {
    const frames: { second: number; data: Uint8Array }[] = [];
    for (const second of secondsOf(moments, await durationOf(file, input, signal))) {
      const scale = `scale=w='min(${bounds.side},iw)':h='min(${bounds.side},ih)':force_original_aspect_ratio=decrease`;
      const { output, said } = await ffmpeg(
        [
          "-loglevel",
          "error",
          ...input,
          "-ss",
          String(second),
          "-i",
          `file:${file}`,
          "-map",
          "0:v:0",
          "-frames:v",
          "1",
          "-vf",
          scale,
          "-pix_fmt",
          "yuvj420p",
          "-c:v",
          "mjpeg",
          "-q:v",
          "2",
          "-threads",
          "1",
          "-f",
          "image2pipe",
          "pipe:1",
        ],
        signal,
      );
      if (output.length === 0) throw new Error(said || `it has no picture at ${second} s`);
      frames.push({ second, data: output });
    }
    return frames;
  } catch (error) {
    bounds.signal.throwIfAborted();
    if (signal.aborted) throw new Error(`reading it took more than ${bounds.time} s`);
    throw error;
  }
}

/** Returns the seconds of the moments in a video of this length. Throws Mistake. */
export function secondsOf({ count, from, to }: Moments, duration: number): number[] {
  const end = Math.min(to, duration);
  if (from >= end)
    throw new Mistake(
      `“from”, ${from} s, must be before “to” and before the end of the video, at ${duration} s`,
    );
  const share = (end - from) / count;
  return Array.from(
    { length: count },
    (_, index) => Math.round((from + (index + 0.5) * share) * 1000) / 1000,
  );
}

async function durationOf(file: string, input: string[], signal: AbortSignal): Promise<number> {
  const { said } = await ffmpeg([...input, "-i", `file:${file}`], signal); // prints the length, then fails without an output
  const [, hours, minutes, seconds] = /Duration: (\d+):(\d+):([\d.]+)/.exec(said) ?? [];
  if (seconds !== undefined) return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const [reason = "its length is not told"] =
    said.match(/^(?!Input #| {2}).*(error|invalid|no such|not in).*$/im) ?? [];
  throw new Error(reason);
}

/** Runs ffmpeg, and kills it when the signal aborts. Throws an error if ffmpeg is not installed. */
async function ffmpeg(given: string[], signal: AbortSignal): Promise<{ output: Buffer; said: string }> {
  signal.throwIfAborted();
  const { PATH, SystemRoot, EVERTURN_THREAD } = process.env;
  const env = { PATH, SystemRoot, EVERTURN_THREAD, AV_LOG_FORCE_NOCOLOR: "1" };
  const child = spawn("ffmpeg", given, {
    env,
    signal,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  try {
    const [output, said] = await Promise.race([
      Promise.all([buffer(child.stdout), text(child.stderr)]),
      failed,
    ]);
    signal.throwIfAborted();
    return { output, said: said.trim().slice(-1000) };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      throw new Error(
        "frames needs the program ffmpeg on PATH, which is not there. Install it (Debian: apt-get install ffmpeg), or leave the function out",
      );
    throw error;
  }
}
