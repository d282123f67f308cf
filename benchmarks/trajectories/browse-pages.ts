import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withQuery } from "../../src/apps/ui/paths.ts";

/** A page that was opened in a browsing session. */
export interface OpenedPage {
  /** Milliseconds from the request to the end of the page. */
  latency: number;
  /** The longest time in which the server answered nothing else meanwhile, in ms. */
  pause: number;
  /** The longest CPU time of its thread in such a time, in ms: the pause on an idle machine. */
  work: number;
  /** The longest answer to a small file that was requested over and over meanwhile, in ms. */
  wait: number;
}

/** How often the small file is requested, in ms. */
const between = 20;

/**
 * Opens the pages of the run `large` one after the other, as a new server serves them. Pages that are read in the background
 * (the list of trajectories, a search, the histograms) count from the first request to the complete answer.
 */
export async function browse(runs: string, steps: number): Promise<Map<string, OpenedPage>> {
  const server = fork(join(import.meta.dirname, "serve-pages.ts"), [runs]);
  try {
    const url = String((await answerOf(server)).url);
    const stage = `step-${String(Math.ceil(steps / 2)).padStart(4, "0")}`;
    const task = `task-${Math.ceil(steps / 2)}-0`;
    const list = (query: Record<string, string | number>) => withQuery("/runs/large/trajectories", query);
    const pages: Record<string, string> = {
      "the list of runs": "/",
      "the run": "/runs/large",
      "its curves again": "/runs/large/parts/overview",
      "a trajectory, before the list": `/runs/large/trajectories/${stage}/${task}/3`,
      "a step": `/runs/large/steps/${Math.ceil(steps / 2)}`,
      "the list, first time": list({}),
      "its last page": list({ page: 2000 }),
      "by tool": list({ tool: "python" }),
      "by reward and turns": list({ sort: "reward desc, turns" }),
      "by step, the newest first": list({ sort: "step desc" }),
      "by time, a page in the middle": list({ sort: "seconds", page: 1000 }),
      "the histograms of rewards": "/runs/large/parts/rewards",
      "a task": `/runs/large/tasks/${task}`,
      "a trajectory": `/runs/large/trajectories/${stage}/${task}/4`,
      "a condition, first time": list({ where: "reward < 0 and tool = 'python'" }),
      "a condition": list({ where: "reward > 0 and tool = 'python'", sort: "seconds desc" }),
      "a search": withQuery("/runs/large/search", { text: "no such text" }),
    };
    const opened = new Map<string, OpenedPage>();
    for (const [name, path] of Object.entries(pages)) opened.set(name, await open(server, url, path));
    return opened;
  } finally {
    server.kill();
  }
}

async function open(server: ChildProcess, url: string, path: string): Promise<OpenedPage> {
  await pauseOf(server);
  const watched = watch(url);
  const start = performance.now();
  while (isPartial(await textOf(url, path))) await sleep(between);
  const latency = performance.now() - start;
  const wait = await watched();
  return { latency, ...(await pauseOf(server)), wait };
}

function isPartial(page: string): boolean {
  return /Reading the (?:run|rewards)|<span class="state live">at work/.test(page);
}

async function textOf(url: string, path: string): Promise<string> {
  const answer = await fetch(`${url}${path}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text;
}

/** Requests a small file until the returned function is called, which returns the longest wait for it. */
function watch(url: string): () => Promise<number> {
  let isOver = false;
  let longest = 0;
  const watching = (async () => {
    while (!isOver) {
      const start = performance.now();
      await textOf(url, "/assets/style.css");
      longest = Math.max(longest, performance.now() - start);
      await sleep(between);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return longest;
  };
}

async function pauseOf(server: ChildProcess): Promise<Pick<OpenedPage, "pause" | "work">> {
  server.send({});
  const { pause = 0, work = 0 } = await answerOf(server);
  return { pause, work };
}

async function answerOf(server: ChildProcess): Promise<{ url?: string; pause?: number; work?: number }> {
  const [answer] = await once(server, "message");
  return answer;
}
