// A file lock that child processes hold together with the process that took it: it ends when the last of them has
// ended, in any container (flock(2)).
import { dlopen } from "bun:ffi"
import { closeSync, openSync } from "node:fs"

const lockExclusive = 2
const lockNonBlocking = 4

const library = process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6"
let flock: ((descriptor: number, operation: number) => number) | undefined

/** An open descriptor to pass to children and then to close; undefined if another process holds the lock. */
export const takeInheritedLock = (path: string): number | undefined => {
  flock ??= dlopen(library, { flock: { args: ["i32", "i32"], returns: "i32" } }).symbols.flock
  const descriptor = openSync(path, "a", 0o600)
  if (flock(descriptor, lockExclusive | lockNonBlocking) === 0) return descriptor
  closeSync(descriptor)
  return undefined
}
