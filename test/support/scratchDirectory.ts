// Where tests keep their files. They make and delete databases by the thousand, which a disk's file system is slow at.
import { readFileSync, statfsSync } from "node:fs"
import { tmpdir, totalmem } from "node:os"

const memory = "/dev/shm"
/** Bytes of it, three times what the whole suite takes at once. */
const wanted = 2 * 2 ** 30

const mountsOf = (path: string) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** Programs are copied there and run; by all its processes alike, so what is free now does not count. */
const hasRoom = () => {
  const options = new RegExp(`^\\S+ ${memory} tmpfs (\\S+)`, "m").exec(mountsOf("/proc/mounts"))?.[1]
  if (options === undefined || options.split(",").includes("noexec")) return false
  const { blocks, bsize } = statfsSync(memory)
  return Math.min(blocks * bsize, totalmem() / 4) >= wanted
}

/** TMPDIR where it is given; else in memory where there is room, or the system's. */
export const scratchDirectory = (): string =>
  process.env["TMPDIR"] === undefined && hasRoom() ? memory : tmpdir()
