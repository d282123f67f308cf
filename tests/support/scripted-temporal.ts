import { once } from "node:events";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { gunzipSync } from "node:zlib";
import proto, { type temporal } from "@temporalio/proto";

const {
  GetSystemInfoResponse,
  DescribeNamespaceResponse,
  PollWorkflowTaskQueueResponse,
  GetWorkflowExecutionHistoryResponse,
  RespondWorkflowTaskCompletedRequest,
  RespondWorkflowTaskFailedRequest,
} = proto.temporal.api.workflowservice.v1;

type Task = temporal.api.workflowservice.v1.IPollWorkflowTaskQueueResponse;

/** How a worker answered a workflow task or a query. */
export interface Answer {
  call: string;
  /** Types of the commands of a task that was completed. */
  commands?: number[];
  /** Why a task failed. */
  failure?: string;
}

/** A server in the place of Temporal's, for one worker. */
export interface ScriptedTemporal {
  address: string;
  /** Hands out a task, once the worker polls, and resolves with the worker's answer. */
  give(task: Task): Promise<Answer>;
  stop(): void;
}

/** Starts a server that hands out workflow tasks one by one, and `history` to a worker that asks for it. */
export async function startScriptedTemporal(
  history: temporal.api.history.v1.IHistory,
): Promise<ScriptedTemporal> {
  const waiting: Task[] = [];
  let answered = Promise.withResolvers<Answer>();

  function answer(call: string, body: Uint8Array): Uint8Array | undefined {
    switch (call) {
      case "GetSystemInfo":
        return GetSystemInfoResponse.encode({ serverVersion: "1.32.0", capabilities: {} }).finish();
      case "DescribeNamespace":
        return DescribeNamespaceResponse.encode({ namespaceInfo: { name: "default" } }).finish();
      case "PollWorkflowTaskQueue": {
        const task = waiting.shift();
        return task === undefined ? undefined : PollWorkflowTaskQueueResponse.encode(task).finish();
      }
      case "GetWorkflowExecutionHistory":
        return GetWorkflowExecutionHistoryResponse.encode({ history }).finish();
      case "RespondWorkflowTaskCompleted": {
        const { commands } = RespondWorkflowTaskCompletedRequest.decode(body);
        answered.resolve({ call, commands: commands.map(({ commandType }) => commandType ?? 0) });
        return new Uint8Array();
      }
      case "RespondWorkflowTaskFailed": {
        const { failure } = RespondWorkflowTaskFailedRequest.decode(body);
        answered.resolve({ call, failure: failure?.message ?? "" });
        return new Uint8Array();
      }
      case "RespondQueryTaskCompleted":
        answered.resolve({ call });
        return new Uint8Array();
      default:
        return new Uint8Array();
    }
  }

  const server = createServer();
  server.on("stream", (stream, headers) => {
    const call = String(headers[":path"]).split("/").at(-1) ?? "";
    const parts: Buffer[] = [];
    stream.on("error", () => {}); // the worker shuts down
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("end", () => {
      const body = messageOf(Buffer.concat(parts));
      const poll = () => {
        if (stream.destroyed) return;
        const message = answer(call, body);
        if (message === undefined) setTimeout(poll, 50);
        else respond(stream, message);
      };
      poll();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    address: `127.0.0.1:${address.port}`,
    give: (task) => {
      answered = Promise.withResolvers();
      waiting.push(task);
      return answered.promise;
    },
    stop: () => void server.close(),
  };
}

/** The message of a unary gRPC call: a byte says whether it is compressed, four say how long it is. */
function messageOf(body: Buffer): Uint8Array {
  const message = body.subarray(5);
  return body[0] === 1 ? gunzipSync(message) : message;
}

/** Answers a unary gRPC call. */
function respond(stream: ServerHttp2Stream, message: Uint8Array): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([head, message]));
}
