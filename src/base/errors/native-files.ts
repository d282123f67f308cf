import { EverturnError } from "./everturn-error.ts";
import { messageOf } from "./message-of.ts";

const skipScript =
  "npm leaves it out where its install script fails, which fetches CUDA files that Everturn has no use for: write the line onnxruntime-node-install=skip into the project's .npmrc and run `npm install` again.";
const noBuild =
  "Everturn runs on Linux with glibc and on Windows on x64 and arm64, and on macOS on arm64; not on Alpine Linux and others with musl, where an image based on Debian does.";

/** If loading a package threw `thrown` because its native files are missing, returns the error that names them. */
export function nativeFilesMissing(thrown: unknown): EverturnError | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code, name, stack = "" }: Error & { code?: unknown } = thrown;
  const [reason = ""] = messageOf(thrown).replace(/\.$/, "").split("\n");
  const isNative = code === "MODULE_NOT_FOUND" || code === "ERR_DLOPEN_FAILED";
  const machine = `${process.platform} ${process.arch}`;
  const told = (files: string, hint: string) =>
    new EverturnError("NATIVE_FILES_MISSING", { files, machine, reason, hint }, { cause: thrown });
  if (code === "ERR_MODULE_NOT_FOUND" && /'onnxruntime-node'/.test(reason))
    return told("ONNX Runtime (onnxruntime-node)", skipScript);
  if (isNative && stack.includes("onnxruntime-node")) return told("ONNX Runtime (onnxruntime-node)", noBuild);
  if (name === "PrebuildError" || (isNative && stack.includes("core-bridge")))
    return told("Temporal's worker (@temporalio/core-bridge)", noBuild);
  return undefined;
}
