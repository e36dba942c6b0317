// Before anything is timed: every server gives the right answers, with the same bytes if they can be the same.
import { isDeepStrictEqual } from "node:util"
import type { Load } from "./loads.ts"
import type { Server } from "./servers.ts"
import type { LoadRequest } from "./wrk.ts"

/** The number of requests of each load that are compared. */
const compared = 120

const ask = async ({ url }: Server, { method, path, key, body }: LoadRequest) => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, body: await response.text() }
}

const expectSame = async (
  servers: ReadonlyArray<Server>,
  request: LoadRequest,
  status: number,
  shown: (body: string) => unknown = (body) => body
) => {
  const answers = await Promise.all(servers.map((server) => ask(server, request)))
  for (const answer of answers)
    if (answer.status !== status || !isDeepStrictEqual(shown(answer.body), shown(answers[0]?.body ?? "")))
      throw new Error(`${request.method} ${request.path}: ${JSON.stringify(answers, null, 2)}`)
}

/** An intent without its random parts. */
const withoutChance = (body: string) => {
  const { intent, intentToken } = JSON.parse(body)
  const { jti, iat, exp, ...claims } = JSON.parse(
    Buffer.from(String(intentToken).split(".")[1] ?? "", "base64url").toString()
  )
  return { intent, lifetime: exp - iat, claims }
}

/** @throws Error with the answers that differ or fail. Opens payments only after all lists are compared. */
export const checkAnswers = async (servers: ReadonlyArray<Server>, loads: ReadonlyArray<Load>) => {
  for (const { name, requests } of loads) {
    const all = requests(1)
    const step = Math.max(1, Math.floor(all.length / compared))
    for (const request of all.filter((_, index) => index % step === 0)) {
      if (name === "create intent") await expectSame(servers, request, 201, withoutChance)
      // Another server opens it first each time.
      else if (name === "open payment") {
        const [first] = servers.toSorted(() => Math.random() - 0.5)
        if (first !== undefined) await expectSame([first], request, 201)
        await expectSame(servers, request, 200)
      } else await expectSame(servers, request, 200)
    }
  }
}
