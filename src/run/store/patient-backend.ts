import { patiently, readingPatience } from "../../base/files/patiently.ts";
import { readPatiently } from "../../base/files/read-patiently.ts";
import type { Backend } from "./backend.ts";

/**
 * A backend whose reads wait for a disk that does not answer (`patiently`), and work on its files, which is done again then. Writes
 * are as they were: who makes them knows whether to wait.
 */
export function patientBackend(backend: Backend): Backend {
  return {
    put: (...args) => backend.put(...args),
    get: (...args) => patiently(() => backend.get(...args), readingPatience),
    size: (...args) => patiently(() => backend.size(...args), readingPatience),
    digest: (...args) => patiently(() => backend.digest(...args), readingPatience),
    remove: (...args) => patiently(() => backend.remove(...args)),
    page: (...args) => patiently(() => backend.page(...args), readingPatience),
    fill: (...args) => backend.fill(...args),
    inFolder: (prefix, files, work, options) =>
      patiently(
        () => backend.inFolder(prefix, files, (folder) => readPatiently(folder, () => work(folder)), options),
        readingPatience,
      ),
    sweep: () => patiently(() => backend.sweep()),
  };
}
