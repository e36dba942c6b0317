// An endpoint's middleware enforces its declared access.
import { describe, expect, test } from "bun:test"
import { Array as Arr } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { Api } from "../../../src/app/Api.ts"
import { DashboardApi } from "../../../src/dashboard/api/Api.ts"
import { MemberRequired, SameOrigin, SessionRequired } from "../../../src/dashboard/api/Session.ts"
import { type Access, accessOf, isCrossOrigin } from "../../../src/platform/http/Access.ts"
import { ApiKeyAuth, TestRail } from "../../../src/platform/http/ApiKeyAuth.ts"

const endpoints: Array<{ readonly name: string; readonly endpoint: HttpApiEndpoint.Top }> = []
const onEndpoint = ({ endpoint, group }: { endpoint: HttpApiEndpoint.Top; group: { identifier: string } }) =>
  void endpoints.push({ name: `${group.identifier}.${endpoint.identifier}`, endpoint })
HttpApi.reflect(Api, { onGroup: () => {}, onEndpoint })
HttpApi.reflect(DashboardApi, { onGroup: () => {}, onEndpoint })

const guards = { ApiKeyAuth, TestRail, SameOrigin, SessionRequired, MemberRequired }

const guardsOf = (access: Access): ReadonlyArray<keyof typeof guards> => {
  switch (access.by) {
    case "key":
      return access.testRail === true ? ["ApiKeyAuth", "TestRail"] : ["ApiKeyAuth"]
    case "session":
      return ["SameOrigin", "SessionRequired"]
    case "member":
      return ["SameOrigin", "SessionRequired", "MemberRequired"]
    case "anyone":
      return []
  }
}

describe("An endpoint's access", () => {
  test("there are endpoints to check", () => expect(endpoints.length).toBeGreaterThan(60))

  for (const { name, endpoint } of endpoints)
    test(`${name} has the middleware that enforces it`, () => {
      const access = accessOf(endpoint)
      const present = Object.entries(guards).flatMap(([guard, tag]) =>
        Arr.fromIterable(endpoint.middlewares).some(({ key }) => key === tag.key) ? [guard] : []
      )
      // Forms for people without a session also come only from the dashboard's own pages.
      const expected = name.startsWith("signIn.") ? ["SameOrigin"] : guardsOf(access)
      expect(present).toEqual([...expected])
    })

  test("no endpoint that a session opens is open to pages of other origins", () => {
    const open = endpoints.filter(({ endpoint }) => isCrossOrigin(accessOf(endpoint)))
    for (const { endpoint } of open) {
      const access = accessOf(endpoint)
      if (access.by === "key") expect(access.kinds).toEqual(["publishable"])
      else expect(access.by).toBe("anyone")
    }
  })
})
