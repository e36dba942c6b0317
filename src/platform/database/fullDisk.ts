// Checks with the file system whether a disk is full; no error code shows it reliably.
import { statfsSync } from "node:fs"
import { dirname } from "node:path"

/** Postgres writes its log in files of 16 MB, and begins the next before the last is full. */
const minFreeBytes = 32_000_000

const freeIn = (path: string): number | undefined => {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    // A directory that does not exist yet is on its parent's disk.
    const parent = dirname(path)
    return parent === path ? undefined : freeIn(parent)
  }
}

/** A sentence if the disk with the directory is full. `free`: the bytes that are left on it. */
export const fullDisk = (directory: string, free = freeIn(directory)): string | undefined =>
  free === undefined || free >= minFreeBytes
    ? undefined
    : `The disk that holds ${directory} is full (${Math.floor(free / 1_000_000)} MB are free). Free space on it`
