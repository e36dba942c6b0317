import { expect, test } from "bun:test"
import { makeUnderWay } from "../../../src/packages/agent-proxy/underWay.ts"

test("the same call, and its id, join an unanswered call; a call after the answer is a new one", async () => {
  const underWay = makeUnderWay<string>()
  const begun: Array<string> = []
  const join = (requestId: string | undefined, call: string) =>
    underWay.join(requestId, call, async (id) => {
      begun.push(id)
      return `answer ${begun.length}`
    })
  const first = join(undefined, "GET /weather")
  expect(join(undefined, "GET /weather").id).toBe(first.id)
  expect(join(first.id, "GET /weather").id).toBe(first.id)
  expect(join(undefined, "GET /news").id).not.toBe(first.id)
  expect(begun).toHaveLength(2)
  expect(await join(first.id, "GET /weather").answer).toBe("answer 1")
  first.done()
  expect(join(undefined, "GET /weather").id).not.toBe(first.id)
  expect(begun).toHaveLength(3)
})

test("a call with the caller's own id is not joined by other calls", () => {
  const underWay = makeUnderWay<string>()
  const own = underWay.join("own", "GET /weather", async () => "a")
  expect(own.id).toBe("own")
  expect(underWay.join(undefined, "GET /weather", async () => "b").id).not.toBe("own")
})

test("a call that failed before its answer was read fails for a call that joins it, and for no other", async () => {
  const underWay = makeUnderWay<string>()
  underWay.join(undefined, "GET /weather", () => Promise.reject(new Error("away")))
  await Bun.sleep(1)
  const joined = underWay.join(undefined, "GET /weather", async () => "never")
  expect(joined.answer).rejects.toThrow("away")
})
