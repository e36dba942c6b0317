import { describe, expect, test } from "bun:test"
import {
  processCount,
  processSlotIn,
  processSlotVariable,
  requestedProcesses,
  whySingleProcess,
  whyTooMany
} from "../../../src/platform/AppConfig/processCount.ts"

const linux = { cores: 4, platform: "linux" }
const mac = { cores: 4, platform: "darwin" }

describe("How many processes serve", () => {
  test.each([
    [{}, linux, 1],
    [{ WORKERS: "" }, linux, 1],
    [{ WORKERS: "1" }, linux, 1],
    [{ WORKERS: " 3 " }, linux, 3],
    [{ WORKERS: "auto" }, linux, 4],
    [{ WORKERS: "auto" }, { ...linux, cores: 1 }, 1],
    [{ WORKERS: "auto" }, { ...linux, cores: 32 }, 4],
    [{ WORKERS: "auto", DATABASE_CONNECTIONS: "128" }, { ...linux, cores: 32 }, 32],
    [{ WORKERS: "8", DATABASE_CONNECTIONS: "32" }, linux, 8],
    // In the form in which the service reads them.
    [{ WORKERS: "2.0" }, linux, 2],
    [{ WORKERS: "0x2" }, linux, 2],
    [{ WORKERS: "8", DATABASE_CONNECTIONS: "1e2" }, linux, 8],
    [{ WORKERS: "auto" }, mac, 1]
  ])("%j on %j is %d", (env, machine, count) => expect(requestedProcesses(env, machine)).toBe(count))

  test.each([
    [{ WORKERS: "0" }, linux],
    [{ WORKERS: "65", DATABASE_CONNECTIONS: "1000" }, linux],
    [{ WORKERS: "two" }, linux],
    [{ WORKERS: "5" }, linux],
    [{ WORKERS: "2", DATABASE_CONNECTIONS: "many" }, linux],
    [{ WORKERS: "2" }, mac]
  ])("%j on %j is the service's to refuse: one process is started", (env, machine) =>
    expect(requestedProcesses(env, machine)).toBe(1)
  )

  test("a refusal gives the reason in words", () => {
    expect(whySingleProcess(mac)).toStartWith("WORKERS must be 1 or `auto` here: only Linux")
    expect(whySingleProcess(linux)).toBeUndefined()
    expect(whyTooMany(5, 16)).toStartWith("DATABASE_CONNECTIONS must be 20 or more for WORKERS=5")
    expect(whyTooMany(4, 16)).toBeUndefined()
    expect(whyTooMany(1, 2)).toBeUndefined()
    expect(processCount("auto", 3, linux)).toBe(1)
  })

  test("a process knows its number", () => {
    for (const processSlot of [
      { number: 1, of: 2, isFirst: true },
      { number: 12, of: 16, isFirst: false }
    ])
      expect(processSlotIn(processSlotVariable(processSlot))).toEqual(processSlot)
    expect(processSlotIn({})).toBeUndefined()
  })
})
