import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../base/errors/message-of.ts";
import { searchTexts, type TextHit } from "../../results/table/search-texts.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";

/** A search in the texts of a run. It continues in the background. */
export interface Search {
  text: string;
  hits: TextHit[];
  /** Trajectories searched so far. */
  searched: number;
  state: "at work" | "done" | "stopped at the most hits" | "failed";
  /** Why it failed. */
  problem?: string;
  /** When it began, in ms. */
  at: number;
}

/** The searches of pages. */
export interface Searches {
  /** The search for a text in a run: one that is at work or has just ended, or a new one. */
  of(run: Pick<OpenRun, "id" | "store">, text: string): Search;
  /** Ends those at work. */
  close(): void;
}

/** A search ends at this many hits. */
const mostHits = 100;

/** How long an ended search stays current, in ms: reloads show it, and later requests search again. */
const current = 30_000;

/** Runs at most `most` searches at once. A new one ends the oldest. */
export function openSearches(most = 3): Searches {
  const searches = new Map<string, Search>();
  const ended = new WeakSet<Search>();

  function end(key: string): void {
    const search = searches.get(key);
    if (search !== undefined) ended.add(search);
    searches.delete(key);
  }

  async function work(search: Search, run: Pick<OpenRun, "store">): Promise<void> {
    for await (const { trajectories, hits } of searchTexts(run, search.text)) {
      await nextTurn(); // lets other work in this process run
      if (ended.has(search)) return;
      search.searched += trajectories;
      search.hits.push(...hits.slice(0, mostHits - search.hits.length));
      if (search.hits.length >= mostHits) {
        search.state = "stopped at the most hits";
        return;
      }
    }
    search.state = "done";
  }

  return {
    of: (run, text) => {
      const key = `${run.id}\n${text}`;
      const known = searches.get(key);
      if (known !== undefined && (known.state === "at work" || performance.now() - known.at < current))
        return known;
      end(key);
      const search: Search = { text, hits: [], searched: 0, state: "at work", at: performance.now() };
      searches.set(key, search);
      for (const oldest of [...searches.keys()].slice(0, -most)) end(oldest);
      work(search, run)
        .catch((error: unknown) => {
          search.state = "failed";
          search.problem = messageOf(error);
        })
        .finally(() => {
          search.at = performance.now();
        });
      return search;
    },
    close: () => {
      for (const key of searches.keys()) end(key);
    },
  };
}
