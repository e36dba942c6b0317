// Checks with the file system whether a disk is full; no error code says so reliably.
import { statfsSync } from "node:fs"
import { dirname } from "node:path"

/** Postgres writes its log in files of 16 MB, and wants to begin the next before the last is full. */
const least = 32_000_000

const freeIn = (path: string): number | undefined => {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    // A directory that is yet to be made is on its parent's disk.
    const parent = dirname(path)
    return parent === path ? undefined : freeIn(parent)
  }
}

/** A sentence where the disk that holds the directory is full; `free` is what is left of it, in bytes. */
export const fullDisk = (directory: string, free = freeIn(directory)): string | undefined =>
  free === undefined || free >= least
    ? undefined
    : `The disk that holds ${directory} is full (${Math.floor(free / 1_000_000)} MB are free). Free space on it`
