import type { Backend } from "./backend.ts";

/** All paths below `prefix`, page by page. */
export async function* pagesOf(backend: Pick<Backend, "page">, prefix: string): AsyncGenerator<string> {
  for (let after: string | undefined; ; ) {
    const { paths, next } = await backend.page(prefix, after);
    yield* paths;
    if (next === undefined) return;
    after = next;
  }
}
