import { afterEach, beforeEach, expect, jest, test } from "bun:test"
import { contentOf, makeSharedCalls } from "../../../src/packages/agent-proxy/sharedCalls.ts"

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const counted = () => {
  const calls = makeSharedCalls<string>()
  const begun: Array<string> = []
  const join = (requestId: string | undefined, content: string) =>
    calls.join(requestId, content, async (id) => {
      begun.push(id)
      return `answer ${begun.length}`
    })
  return { begun, join }
}

test("the same call, and its id, join an unanswered call; a call after an unpaid answer is a new one", async () => {
  const { begun, join } = counted()
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

test("an identical call gets a paid answer again for five minutes, and its id alone if the answer is not kept", async () => {
  const { begun, join } = counted()
  const first = join(undefined, "GET /weather")
  expect(first).toMatchObject({ isNew: true, isRepeated: false })
  first.keep(100)
  jest.advanceTimersByTime(4 * 60_000)
  const again = join(undefined, "GET /weather")
  expect(again).toMatchObject({ id: first.id, isNew: false, isRepeated: true })
  expect(await again.answer).toBe("answer 1")
  expect(begun).toHaveLength(1)
  // The answer is too large: the request is repeated under its id.
  again.keep(Number.POSITIVE_INFINITY)
  const sentAgain = join(undefined, "GET /weather")
  expect(sentAgain).toMatchObject({ id: first.id, isNew: true })
  expect(begun).toEqual([first.id, first.id])
  // Then nothing is paid, for example because the server is away: the id stays.
  sentAgain.done()
  expect(join(undefined, "GET /weather")).toMatchObject({ id: first.id, isNew: true })
  // A repetition extends nothing.
  sentAgain.keep(100)
  jest.advanceTimersByTime(61_000)
  expect(join(undefined, "GET /weather").id).not.toBe(first.id)
})

test("a call with an own id is repeated, and buys again beside an identical paid one", () => {
  const { begun, join } = counted()
  join(undefined, "GET /weather").keep(100)
  join("own", "GET /weather").keep(100)
  join("own", "GET /weather").keep(100)
  expect(begun.slice(1)).toEqual(["own", "own"])
})

test("answers are kept up to a total size; beyond it the oldest are reduced to their ids", () => {
  const { begun, join } = counted()
  const ids = Array.from({ length: 17 }, (_, index) => {
    const call = join(undefined, `GET /${index}`)
    call.keep(1024 * 1024)
    return call.id
  })
  expect(join(undefined, "GET /16")).toMatchObject({ id: ids[16], isNew: false })
  expect(begun).toHaveLength(17)
  expect(join(undefined, "GET /0")).toMatchObject({ id: ids[0], isNew: true })
})

test("a request's content is its method, URL, body, and the headers that may select its answer", () => {
  const body = new TextEncoder().encode("question")
  const content = contentOf("POST", "https://a.example/", new Headers({ accept: "text/plain" }), body)
  const attempt = new Headers({ traceparent: "00-1", Accept: "text/plain", "x-request-id": "2" })
  expect(contentOf("POST", "https://a.example/", attempt, body)).toBe(content)
  for (const other of [
    contentOf("PUT", "https://a.example/", attempt, body),
    contentOf("POST", "https://a.example/b", attempt, body),
    contentOf("POST", "https://a.example/", new Headers({ accept: "text/html" }), body),
    contentOf("POST", "https://a.example/", attempt, undefined)
  ])
    expect(other).not.toBe(content)
})

test("a call with the caller's own id is not joined by other calls", () => {
  const calls = makeSharedCalls<string>()
  const own = calls.join("own", "GET /weather", async () => "a")
  expect(own.id).toBe("own")
  expect(calls.join(undefined, "GET /weather", async () => "b").id).not.toBe("own")
})

test("a call that failed before its answer was read fails for a call that joins it, and for no other", async () => {
  const calls = makeSharedCalls<string>()
  calls.join(undefined, "GET /weather", () => Promise.reject(new Error("away")))
  await Promise.resolve()
  const joined = calls.join(undefined, "GET /weather", async () => "never")
  expect(joined.answer).rejects.toThrow("away")
})
