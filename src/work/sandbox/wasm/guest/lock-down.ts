import type { FromInterpreter } from "./protocol.ts";

const post = postMessage.bind(globalThis);

/** Sends a message to the main thread. After `lockDown`, nothing else in this thread can. */
export function send(message: FromInterpreter): void {
  post(message);
}

/**
 * Makes this thread look like a browser's worker to libraries that would look for Node's modules. Also
 * silences its console: Deno's writes to the channel between the main thread and Everturn, and libraries keep
 * a reference to it that programs can call.
 */
export function looksLikeBrowser(): void {
  for (const name of ["Deno", "process", "Buffer"]) Reflect.deleteProperty(globalThis, name);
  const silent = Object.keys(console).map((name) => [name, () => {}]);
  Object.assign(globalThis, { console: Object.fromEntries(silent) });
}

const doors = [
  ..."postMessage close Worker WebSocket WebSocketStream EventSource XMLHttpRequest".split(" "),
  ..."BroadcastChannel caches localStorage sessionStorage importScripts navigator fetch Request".split(" "),
  ..."onmessage addEventListener prompt alert confirm".split(" "),
];

/**
 * Removes the thread's globals that lead out of it. Deno's permissions apply without this. It is an
 * additional barrier.
 */
export function lockDown(): void {
  for (const name of doors) {
    for (let owner: object | null = globalThis; owner !== null; owner = Object.getPrototypeOf(owner))
      Reflect.deleteProperty(owner, name);
  }
}
