import { connect } from "node:net";

/** What a server answers first to a request that is written as it is: its status, and all that came with it. */
export function rawRequest(
  url: string,
  target: string,
  {
    method = "GET",
    headers = {},
    body = "",
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; text: string }> {
  const { port, hostname, host } = new URL(url);
  const lines = Object.entries({ host, connection: "close", ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const length = body === "" ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join("")}${length}\r\n${body}`);
    });
    socket.on("data", (data) => {
      text += data;
    });
    socket.once("error", reject);
    socket.once("close", () => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text }));
  });
}

/** Targets that no client writes, and that are answered by what is wrong with them. */
export const oddTargets: readonly string[] = [
  "//",
  "//x",
  "///",
  "//[",
  "/%",
  "/%zz",
  "/\\",
  "*",
  "x",
  "http://[",
  "http://",
  "http://other.example/",
  "http://other.example//",
  "/nothing?%",
  "/?token=%",
  `/${"a".repeat(8000)}`,
  `/${"a/".repeat(4000)}`,
  `/${"x".repeat(100_000)}`,
  "/../../etc/passwd",
  "/\u00e9",
];
