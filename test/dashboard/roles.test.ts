// Every endpoint of the dashboard's API, walked: only a session opens it, another merchant's ids are unknown, and no
// change comes from another site.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { Api } from "../../src/app/Api.ts"
import { DashboardApi } from "../../src/dashboard/api/Api.ts"
import { endpointsOf } from "../../src/platform/http/Routing/pathTable.ts"
import { makeShop } from "../platform/http/shop.ts"
import { serviceForFile } from "../support/forFile.ts"
import { agentForm, openAlertsOf, receiver, request, signUp } from "./person.ts"

setDefaultTimeout(60_000)

/** A valid body, so that only the caller decides. */
const bodies: Readonly<Record<string, unknown>> = {
  "account.changePassword": { current: "correct horse battery", next: "another long password" },
  "account.confirm": { password: "correct horse battery" },
  "account.confirmByPasskey": { id: "AA", clientDataJSON: "AA", authenticatorData: "AA", signature: "AA" },
  "account.addPasskey": {
    id: "AA",
    clientDataJSON: "AA",
    attestationObject: "AA",
    transports: [],
    name: "Stolen"
  },
  "account.setLocale": { locale: "de" },
  "account.confirmAuthenticator": { code: "123456" },
  "keyPages.create": { kind: "secret", permission: "read" },
  "keyPages.rename": { name: "Taken over" },
  "webhookPages.create": { url: "https://shop.example.com/hook" },
  "webhookPages.update": { url: "https://shop.example.com/other" },
  "alertPages.acknowledge": {},
  "settingsPages.update": { name: "Taken over", logoUrl: null, identityAudience: null },
  "settingsPages.changeBranding": { accentColor: "#ff0000", support: "stranger@example.com" },
  "settingsPages.checkReceiver": { receiver },
  "settingsPages.changeReceiver": { receiver },
  "settingsPages.invite": { email: "friend@example.com", role: "owner" },
  "settingsPages.changeRole": { role: "read_only" },
  "transferPages.attach": { paymentId: "00000000-0000-4000-8000-000000000000" },
  "transferPages.handle": { note: "Dust" },
  "refundPages.create": { paymentId: "00000000-0000-4000-8000-000000000000" },
  "refundPages.report": { transactionId: `0x${"a".repeat(64)}` },
  "bookPages.changeTimeZone": { timeZone: "Europe/Berlin" },
  "notificationPreferences.choose": { alerts: "none", weekly: false },
  "notificationPreferences.addHook": { shape: "plain", url: "https://evil.example.com/" },
  "linkPages.create": { description: "Chess lesson", amount: "1" },
  "linkPages.createRemainderLink": {
    description: "Rest",
    amount: "1",
    incomingTransferId: "00000000-0000-4000-8000-000000000000"
  },
  "agentPages.create": agentForm,
  "agentPages.update": { ...agentForm, name: "Taken over" }
}

const endpoints = endpointsOf(DashboardApi)
const open = endpoints.filter(({ name }) => name.startsWith("signIn."))
const personal = endpoints.filter(({ name }) => name.startsWith("account."))
const ofMerchants = endpoints.filter((one) => !open.includes(one) && !personal.includes(one))

const apiPath = (path: string) => path.replace("/dashboard/api", "")

const service = await serviceForFile()
const owner = await signUp(service.baseUrl)
const stranger = await signUp(service.baseUrl)
const at = `/merchants/${owner.merchantId}/test`
await owner.call("POST", `${at}/webhook-endpoint`, { url: "https://shop.example.com/hook" })
const shop = await makeShop(service, { ...owner, id: owner.merchantId })
const { payment } = await shop.settle()
const sent = await owner.call("POST", `${at}/webhook-endpoint/test`)
const { body: session } = await owner.call("GET", "/session")
const { body: keys } = await owner.call("GET", `${at}/keys`)
const { body: made } = await owner.call("POST", `${at}/agents`, agentForm)
await Effect.runPromise(service.alerts.raise({ tenant: owner.merchantId, subject: payment.id }))
const { body: alerts } = await owner.call("GET", `${at}/alerts`)
await owner.call("POST", `${at}/members`, { email: "invited@example.com", role: "developer" })
const openAlerts = openAlertsOf(await owner.call("GET", `${at}/overview`))
await owner.call("POST", `${at}/payment-links`, { description: "Chess lesson", amount: "1.00" })
const { body: links } = await owner.call("GET", `${at}/payment-links`)
const { body: settings } = await owner.call("GET", `${at}/settings`)
/** The owner's ids, by the name of the path's parameter, or of the group if that is `id`. */
const ids: Readonly<Record<string, string>> = {
  merchantId: owner.merchantId,
  env: "test",
  paymentId: payment.id,
  webhookPages: sent.body.delivery.id,
  deliveryId: sent.body.delivery.id,
  keyId: keys.keys[0]?.id ?? "",
  userId: session.user.id,
  invitationId: settings.invitations[0]?.id ?? "",
  alertId: alerts.alerts[0]?.id ?? "",
  agentId: made.agent.id,
  linkPages: links.links[0]?.id ?? "",
  kind: "payments",
  refundPages: "00000000-0000-4000-8000-000000000000",
  sessionId: "00000000-0000-4000-8000-000000000000",
  passkeyId: "00000000-0000-4000-8000-000000000000",
  hookId: "00000000-0000-4000-8000-000000000000",
  transferId: "00000000-0000-4000-8000-000000000000"
}

const fill = (name: string, path: string, changes: Record<string, string> = {}) => {
  const known: Readonly<Record<string, string | undefined>> = {
    ...ids,
    id: ids[name.split(".")[0] ?? ""],
    ...changes
  }
  return apiPath(path).replace(/:([A-Za-z]+)/g, (_, parameter) => known[parameter] ?? `no ${parameter}`)
}

describe("access to the dashboard's API", () => {
  test("the walk knows every endpoint, and these are public", () => {
    expect(open.map(({ name }) => name)).toEqual([
      "signIn.signUp",
      "signIn.signIn",
      "signIn.redeem",
      "signIn.beginPasskey",
      "signIn.signInByPasskey",
      "signIn.forgotPassword"
    ])
    expect(ofMerchants.length).toBeGreaterThan(15)
    for (const { name, path } of ofMerchants) {
      expect(path).toStartWith("/dashboard/api/merchants/:merchantId/:env/")
      expect(fill(name, path)).not.toContain("no ")
    }
  })

  for (const { name, method, path } of [...personal, ...ofMerchants]) {
    test(`${name} refuses a request without a session`, async () => {
      const answer = await request(service.baseUrl, method, fill(name, path), { body: bodies[name] })
      expect(answer.status).toBe(401)
      expect(answer.body.error.code).toBe("SIGN_IN_REQUIRED")
    })
    test(`${name} refuses API keys`, async () => {
      for (const key of [owner.keys.test.secret, owner.keys.test.publishable, owner.keys.live.secret]) {
        const answer = await request(service.baseUrl, method, fill(name, path), {
          body: bodies[name],
          headers: { authorization: `Bearer ${key}` }
        })
        expect(answer.body.error.code).toBe("SIGN_IN_REQUIRED")
      }
    })
    test(`${name} refuses an unknown session`, async () => {
      const answer = await request(service.baseUrl, method, fill(name, path), {
        body: bodies[name],
        cookie: "quittance_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      })
      expect(answer.body.error.code).toBe("SIGN_IN_REQUIRED")
    })
  }

  for (const { name, method, path } of endpoints.filter((one) => one.method !== "GET")) {
    test(`${name} refuses changes from other sites`, async () => {
      const elsewhere: ReadonlyArray<Record<string, string>> = [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "none" },
        { "sec-fetch-site": "", origin: "https://evil.example" },
        { "sec-fetch-site": "", origin: "null" },
        // A name that resolves to this machine.
        { "sec-fetch-site": "", origin: "http://rebound.example", host: "rebound.example" }
      ]
      for (const headers of elsewhere) {
        const answer = await request(service.baseUrl, method, fill(name, path), {
          body: bodies[name],
          cookie: owner.cookie,
          headers
        })
        expect(answer.status).toBe(403)
        expect(answer.body.error.code).toBe("CROSS_ORIGIN_REFUSED")
      }
    })
  }

  for (const { name, method, path } of ofMerchants) {
    test(`${name} answers 404 to a member of another merchant`, async () => {
      const answer = await stranger.call(method, fill(name, path), bodies[name])
      expect(answer.status).toBe(404)
      expect(answer.body.error.code).toBe("NOT_FOUND")
    })
    // The ids of another merchant under the caller's own merchant, and in the other environment.
    if (/:(?!merchantId|env|kind)/.test(path)) {
      test(`${name} answers 404 to another merchant's id under the caller's own`, async () => {
        const answer = await stranger.call(
          method,
          fill(name, path, { merchantId: stranger.merchantId }),
          bodies[name]
        )
        expect(answer.status).toBe(404)
      })
      // People belong to both environments.
      if (!/:userId|:invitationId/.test(path)) {
        test(`${name} answers 404 to a test id in the live environment`, async () => {
          const answer = await owner.call(method, fill(name, path, { env: "live" }), bodies[name])
          expect(answer.status).toBe(404)
        })
      }
    }
    test(`${name} answers 404 for environments that do not exist`, async () => {
      const answer = await owner.call(method, fill(name, path, { env: "prod" }), bodies[name])
      expect(answer.status).toBe(404)
    })
  }

  test("after all these refusals nothing has changed", async () => {
    const at = `/merchants/${owner.merchantId}/test`
    // A payment link creates no key.
    expect((await owner.call("GET", `${at}/keys`)).body.keys).toHaveLength(3)
    expect((await owner.call("GET", `${at}/settings`)).body.profile.name).toBe("Shop")
    expect((await owner.call("GET", `${at}/webhooks`)).body.endpoint.url).toBe(
      "https://shop.example.com/hook"
    )
    expect((await owner.call("GET", `${at}/agents/${ids["agentId"]}`)).body.agent).toMatchObject({
      name: agentForm.name,
      status: "active",
      allowedHosts: null
    })
    expect(openAlertsOf(await owner.call("GET", `${at}/overview`))).toBe(openAlerts)
  })

  test("a dashboard session opens no endpoint of the merchants' API, mounted for members or not", async () => {
    const forKeys = endpointsOf(Api).filter(({ access }) => access.by === "key")
    expect(forKeys.length).toBeGreaterThan(20)
    for (const { method, name, path } of forKeys) {
      const answer = await fetch(service.baseUrl + path.replace(/:[A-Za-z]+/g, "payments"), {
        method,
        headers: { cookie: owner.cookie, "sec-fetch-site": "same-origin" }
      })
      expect([name, answer.status]).toEqual([name, 401])
    }
  })

  test("a wrong method is 405 and names the right ones; an unknown path is 404", async () => {
    const wrong = await owner.call("PUT", `/merchants/${owner.merchantId}/test/keys`)
    expect(wrong.status).toBe(405)
    expect(wrong.headers.get("allow")).toBe("GET, HEAD, POST")
    expect((await owner.call("GET", `/merchants/${owner.merchantId}/test/nothing`)).status).toBe(404)
    expect((await owner.call("GET", "/nothing")).status).toBe(404)
  })
})
