// The first request builds the dashboard: the first requests are answered like all others.
import { expect } from "bun:test"
import { connect } from "node:net"
import { Effect } from "effect"
import { testDatabase } from "../support/database.ts"
import { liveEffect } from "../support/run.ts"
import { startService } from "../support/service.ts"
import { signUp } from "./person.ts"

liveEffect("the first requests, all at once, are answered each with its own id and for its own person", () =>
  Effect.gen(function* () {
    const { baseUrl } = yield* startService(testDatabase)
    const ids = Array.from({ length: 10 }, (_, index) => `first-${index}`)
    yield* Effect.promise(async () => {
      const answers = await Promise.all(
        ids.map(async (id) => {
          const response = await fetch(`${baseUrl}/dashboard/api/session`, {
            headers: { "x-request-id": id }
          })
          return [
            response.status,
            response.headers.get("x-request-id"),
            (await response.json()).error.requestId
          ]
        })
      )
      expect(answers).toEqual(ids.map((id) => [401, id, id]))
      const people = [await signUp(baseUrl), await signUp(baseUrl)]
      const emails = await Promise.all(
        people.map(async (person) => (await person.call("GET", "/session")).body.user.email)
      )
      expect(new Set(emails).size).toBe(2)
    })
  }).pipe(Effect.scoped)
)

liveEffect("a first request that is aborted does not break the next one", () =>
  Effect.gen(function* () {
    const { baseUrl } = yield* startService(testDatabase)
    yield* Effect.promise(async () => {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1", () =>
          socket.write("GET /dashboard HTTP/1.1\r\nhost: localhost\r\n\r\n", () => {
            socket.destroy()
            resolve()
          })
        )
      })
      const pages = ["/dashboard", "/dashboard?from=mail", "/dashboard/sign-in"]
      for (const page of pages) expect([page, (await fetch(baseUrl + page)).status]).toEqual([page, 200])
      expect((await fetch(`${baseUrl}/dashboards`)).status).toBe(404)
      const wrong = await fetch(`${baseUrl}/dashboard`, { method: "DELETE" })
      expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"])
    })
  }).pipe(Effect.scoped)
)
