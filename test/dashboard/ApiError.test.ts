// What a person reads when a request of the dashboard is refused.
import { expect, test } from "bun:test"
import { ApiError } from "../../src/dashboard/browser/ApiError.ts"
import { RateLimited } from "../../src/domain/Errors.ts"

const sentence = (
  code: string,
  details: ReadonlyArray<{ path: string; message: string }>,
  retryAfter?: number
) =>
  new ApiError(400, { code, message: "The catalogue's sentence.", details: [...details] }, retryAfter).message

test("a limit says how long to wait, in seconds or minutes", () => {
  const { code } = new RateLimited({})
  expect(sentence(code, [], 1)).toBe("Too many attempts. Try again in 1 second.")
  expect(sentence(code, [], 120)).toBe("Too many attempts. Try again in 120 seconds.")
  expect(sentence(code, [], 121)).toBe("Too many attempts. Try again in 3 minutes.")
  expect(sentence(code, [])).toBe("The catalogue's sentence.")
})

test("an invalid request says what is wrong with each field", () => {
  const details = [
    { path: "query.from", message: "Choose a period of at most 366 days." },
    { path: "query.to", message: "The last day must not be before the first." }
  ]
  expect(sentence("INVALID_REQUEST", details)).toBe(
    "Choose a period of at most 366 days. The last day must not be before the first."
  )
  expect(sentence("INVALID_REQUEST", [])).toBe("The catalogue's sentence.")
  expect(sentence("NOT_FOUND", details)).toBe("The catalogue's sentence.")
})
