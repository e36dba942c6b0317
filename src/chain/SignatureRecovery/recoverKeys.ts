// The thread's own program: recovers the requested public keys, in order.
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { decodeRequest, encodeKeys } from "./messages.ts"
import { loadSecp256k1, recoverKey } from "./secp256k1.ts"

// Lowers this thread's priority, so that the event loop and Postgres come first on a shared core. Only on Linux:
// elsewhere, the call would change the whole process.
try {
  if (process.platform === "linux") setPriority(10)
} catch {
  // A sandbox may forbid this.
}

await loadSecp256k1()
parentPort?.on("message", (request: Uint8Array) => {
  const keys = encodeKeys(decodeRequest(request).map(recoverKey))
  parentPort?.postMessage(keys, [keys.buffer])
})
// Reports that it is ready.
parentPort?.postMessage(new Uint8Array())
