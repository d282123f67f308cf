import { constants } from "node:os";
import { messageOf } from "../../base/errors/message-of.ts";

/** glibc's RTLD_NODELETE: the library stays although Node closes it again, having found no add-on in it. */
const keep = 0x1000;

/**
 * Loads a shared library into this process by its path, or by its name from where the system looks. Others that
 * ask for the same name get it. Returns why it could not be loaded, or undefined.
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
