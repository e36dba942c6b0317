import { expect, test } from "bun:test"
import { makeUnderWay } from "../../../src/packages/agent-proxy/underWay.ts"

test("the same call, and its id, join the call that nobody has heard the answer of; the next one is another", async () => {
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

test("a call with an id of the caller's is no other caller's call", () => {
  const underWay = makeUnderWay<string>()
  const own = underWay.join("own", "GET /weather", async () => "a")
  expect(own.id).toBe("own")
  expect(underWay.join(undefined, "GET /weather", async () => "b").id).not.toBe("own")
})

test("a call that failed unheard fails for whoever joins it, and nowhere else", async () => {
  const underWay = makeUnderWay<string>()
  underWay.join(undefined, "GET /weather", () => Promise.reject(new Error("away")))
  await Bun.sleep(1)
  const joined = underWay.join(undefined, "GET /weather", async () => "never")
  expect(joined.answer).rejects.toThrow("away")
})
