// The thread's own program: recovers the public keys that it is asked for, in order.
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { decodeAsked, encodeKeys } from "./messages.ts"
import { loadSecp256k1, recoverKey } from "./secp256k1.ts"

// The event loop and Postgres go first where they want the same core. Elsewhere it would be the whole process's.
try {
  if (process.platform === "linux") setPriority(10)
} catch {
  // A sandbox may forbid it.
}

await loadSecp256k1()
parentPort?.on("message", (asked: Uint8Array) => {
  const keys = encodeKeys(decodeAsked(asked).map(recoverKey))
  parentPort?.postMessage(keys, [keys.buffer])
})
// It is ready.
parentPort?.postMessage(new Uint8Array())
