// Checks with the file system whether a disk is full; no error code shows it reliably.
import { statfsSync } from "node:fs"
import { dirname } from "node:path"

/** Postgres writes its log in files of 16 MB, and begins the next before the last is full. */
const minFreeBytes = 32_000_000
/** A checkpoint, a new relation and a sort create some files each. */
const minFreeFiles = 100

interface Space {
  readonly bytes: number
  /** Files that can still be created: free inodes. Infinite on a file system without a limit. */
  readonly files: number
}

const spaceOf = (path: string): Space | undefined => {
  try {
    const { bavail, bsize, ffree, files } = statfsSync(path)
    return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree }
  } catch {
    // A directory that does not exist yet is on its parent's disk.
    const parent = dirname(path)
    return parent === path ? undefined : spaceOf(parent)
  }
}

/** A sentence if the disk with the directory is full. `space`: what is free on it; none if the system does not report it. */
export const fullDisk = (directory: string, space = spaceOf(directory)): string | undefined => {
  if (space === undefined) return undefined
  if (space.bytes < minFreeBytes)
    return `The disk that holds ${directory} is full (${Math.floor(space.bytes / 1_000_000)} MB are free). Free space on it`
  return space.files < minFreeFiles
    ? `The disk that holds ${directory} is full (${space.files} more files can be created: its inodes are used up). Delete files on it`
    : undefined
}
