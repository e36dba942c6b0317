// The directory for tests' files. They create and drop databases by the thousand, which is slow on a disk's file
// system.
import { readFileSync, statfsSync } from "node:fs"
import { tmpdir, totalmem } from "node:os"

const memory = "/dev/shm"
/** Its size in bytes, three times what the whole suite needs at once. */
const wanted = 2 * 2 ** 30

const mountsOf = (path: string) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/**
 * Programs are copied there and run; all processes of the suite share it, so the space that is free now does not count.
 */
const hasRoom = () => {
  const options = new RegExp(`^\\S+ ${memory} tmpfs (\\S+)`, "m").exec(mountsOf("/proc/mounts"))?.[1]
  if (options === undefined || options.split(",").includes("noexec")) return false
  const { blocks, bsize } = statfsSync(memory)
  return Math.min(blocks * bsize, totalmem() / 4) >= wanted
}

/** TMPDIR if it is set; otherwise memory if there is enough, or the system's directory. */
export const scratchDirectory = (): string =>
  process.env["TMPDIR"] === undefined && hasRoom() ? memory : tmpdir()
