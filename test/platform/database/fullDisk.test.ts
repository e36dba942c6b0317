// The embedded database's disk: full only if the file system says so, and reported with its path.
import { expect, test } from "bun:test"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fullDisk } from "../../../src/platform/database/fullDisk.ts"

const files = 10_000

test("a disk is full when a file of Postgres' log no longer fits, and not before", () => {
  expect(fullDisk("/data/postgres", { bytes: 33_000_000, files })).toBeUndefined()
  expect(fullDisk("/data/postgres", { bytes: 31_000_000, files })).toBe(
    "The disk that holds /data/postgres is full (31 MB are free). Free space on it"
  )
  expect(fullDisk("/data/postgres", { bytes: 0, files })).toContain("(0 MB are free)")
})

test("a disk without inodes is full", () => {
  expect(fullDisk("/data/postgres", { bytes: 33_000_000, files: 3 })).toBe(
    "The disk that holds /data/postgres is full (3 more files can be created: its inodes are used up). Delete files on it"
  )
})

test("a directory that does not exist yet is on its parent's disk", () => {
  expect(fullDisk(join(tmpdir(), "never", "made", "postgres"))).toBeUndefined()
})
