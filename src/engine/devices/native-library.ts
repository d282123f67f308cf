import { constants } from "node:os";
import { messageOf } from "../../base/errors/message-of.ts";

/** glibc's RTLD_NODELETE. The library stays loaded although Node closes it, because Node finds no add-on in it. */
const keep = 0x1000;

/**
 * Loads a shared library into this process by its path, or by a name that the system resolves. Libraries that request
 * the same name share it. Returns why it could not be loaded, or undefined.
 */
export function loadLibrary(file: string): string | undefined {
  const { RTLD_NOW, RTLD_GLOBAL } = constants.dlopen;
  try {
    process.dlopen({ exports: {} }, file, RTLD_NOW | RTLD_GLOBAL | keep);
    return undefined;
  } catch (error) {
    const reason = messageOf(error);
    return reason.startsWith("Module did not self-register") ? undefined : reason;
  }
}
