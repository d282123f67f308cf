import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { JsonObject } from "../../src/contracts/json.ts";
import { acceptWebSocket, type ServerSocket } from "./websocket.ts";

/** What a server of the tests does otherwise than a healthy one. */
export interface OpenenvFaults {
  /** Whether the reset of an episode fails, by its task's index. */
  failsReset?: (index: number) => boolean;
  /** Added to each total from now on, as if the environment were not deterministic. */
  drift?: number;
  /** Whether steps are taken, but not answered. */
  isSilent?: boolean;
}

/** A server that speaks OpenEnv 0.10, as the recorded exchanges show it. Its episodes add amounts to reach a target. */
export interface OpenenvServer {
  url: string;
  faults: OpenenvFaults;
  counts: { resets: number; failedResets: number; steps: number };
  /** The sessions that were opened and not closed. */
  sessions(): number;
  dropSockets(): void;
  close(): Promise<void>;
}

interface Session {
  episode: Episode;
  socket?: ServerSocket | undefined;
}

class Episode {
  total = 0;
  target = 0;
  steps = 0;
}

/** Starts a server with `tasks` tasks, whose targets are 3, 4, 5 … */
export async function startOpenenv({ tasks = 4, port = 0 } = {}): Promise<OpenenvServer> {
  const faults: OpenenvFaults = {};
  const counts = { resets: 0, failedResets: 0, steps: 0 };
  const sessions = new Map<string, Session>();
  const sockets = new Set<ServerSocket>();
  let newest = 0;

  function observation({ total, target }: Episode, more: JsonObject, reward: number | null, done: boolean) {
    const shown = { total: total + (faults.drift ?? 0), ...more };
    return { type: "observation", data: { observation: { metadata: { target }, ...shown }, reward, done } };
  }

  function answer(episode: Episode, { type, data = {} }: { type?: string; data?: JsonObject }): object {
    const failed = (code: string, message: string) => ({ type: "error", data: { code, message } });
    if (type === "state") return { type, data: { step_count: episode.steps, total: episode.total } };
    if (type === "reset") {
      counts.resets++;
      const index = Number(data.index ?? data.seed ?? 0);
      if (faults.failsReset?.(index)) {
        counts.failedResets++;
        return failed("EXECUTION_ERROR", "the simulator did not start");
      }
      Object.assign(episode, { total: 0, steps: 0, target: 3 + index });
      return observation(episode, { prompt: `Reach ${episode.target}.` }, null, false);
    }
    if (type !== "step") return failed("UNKNOWN_TYPE", `Unknown message type: ${type}`);
    if (!Number.isInteger(data.amount)) return failed("VALIDATION_ERROR", "Invalid message");
    if (data.amount === 13) return failed("EXECUTION_ERROR", "thirteen isn't allowed");
    counts.steps++;
    episode.steps++;
    episode.total += Number(data.amount);
    const done = episode.total >= episode.target;
    const reward = data.amount === 99 ? null : episode.total === episode.target ? 1 : 0;
    return observation(episode, {}, reward, done);
  }

  function rpc({ method, params }: JsonObject): object {
    if (method === "openenv/session/create") {
      const session_id = `session-${++newest}`;
      sessions.set(session_id, { episode: new Episode() });
      return { result: { session_id } };
    }
    if (method === "openenv/session/close") {
      const id = String(Object(params).session_id);
      const closed = sessions.get(id)?.socket === undefined;
      sessions.delete(id);
      return { result: { session_id: id, closed } };
    }
    return { error: { code: -32_603, message: "Environment does not support MCP" } };
  }

  const amount = { title: "Amount", type: "integer" };
  const metadata = { type: "object", additionalProperties: true };
  const action = {
    additionalProperties: false,
    properties: { metadata, amount },
    required: ["amount"],
    title: "AddAction",
    type: "object",
  };
  const server = createServer(async (request, response) => {
    const body: JsonObject = request.method === "POST" ? JSON.parse(await text(request)) : {};
    const answers: Record<string, unknown> = {
      "/health": { status: "healthy" },
      "/schema": { action },
      "/list_environments": ["count"],
      "/count/tasks": {
        tasks: Array.from({ length: tasks }, (_, index) => ({ id: `train-${index}`, index })),
      },
    };
    const path = request.url ?? "";
    const answered = path === "/mcp" ? { jsonrpc: "2.0", id: 1, ...rpc(body) } : answers[path];
    response.statusCode = answered === undefined ? 404 : 200;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answered ?? { detail: "Not Found" }));
  });
  server.on("upgrade", (request, stream) => {
    const id = new URL(request.url ?? "", "http://localhost").searchParams.get("session_id");
    const session: Session | undefined = id === null ? { episode: new Episode() } : sessions.get(id);
    const socket = acceptWebSocket(request, stream, {
      text: (said) => {
        if (session?.socket !== socket) return;
        const frame = JSON.parse(said);
        if (frame.type === "close") {
          socket.close();
          return;
        }
        const answered = answer(session.episode, frame);
        if (frame.type === "step" && faults.isSilent) return;
        socket.send(JSON.stringify(answered));
      },
      closed: () => {
        sockets.delete(socket);
        if (session?.socket === socket) session.socket = undefined;
      },
    });
    const problem =
      session === undefined
        ? `Unknown session_id: ${id}`
        : session.socket !== undefined
          ? `Session ${id} already has an attached WebSocket`
          : undefined;
    if (session === undefined || problem !== undefined) {
      socket.send(JSON.stringify({ type: "error", data: { code: "SESSION_ERROR", message: problem } }));
      socket.close();
      return;
    }
    session.socket = socket;
    sockets.add(socket);
  });
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  const dropSockets = () => {
    for (const socket of sockets) socket.drop();
  };
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    faults,
    counts,
    sessions: () => sessions.size,
    dropSockets,
    close: async () => {
      dropSockets();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function portOf(server: Server): number {
  const address = server.address() as AddressInfo;
  return address.port;
}
