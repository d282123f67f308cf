import type { Page } from "./backend.ts";

/** All paths of a listing, page by page. `page` returns those after a path. */
export async function* pathsOf(page: (after?: string) => Promise<Page>): AsyncGenerator<string> {
  for (let after: string | undefined; ; ) {
    const { paths, next } = await page(after);
    yield* paths;
    if (next === undefined) return;
    after = next;
  }
}
