// The URL corpus: which URLs may be registered, and the reason for each refusal.

import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { checkEgressUrl, EgressUrlReason } from "../../../src/platform/egress/EgressUrl.ts"
import { webhookUrlAdvice } from "../../../src/webhooks/checkWebhookUrl.ts"
import corpus from "./hostileUrls.json"

const options = {
  ownHosts: ["pay.quittance.dev", "Dash.Quittance.dev.:8787", "own.allowed.dev", "192.0.2.7"],
  allowedHosts: ["localhost:9000", "10.0.0.5:8080", "[::1]:9000", "Receiver:80", "own.allowed.dev:443"]
}

const verdictOf = (url: string): string =>
  Result.match(checkEgressUrl(url, options), {
    onSuccess: ({ allowed }) => (allowed ? "allowed" : "ok"),
    onFailure: (reason) => reason
  })

describe("webhook URLs", () => {
  test("the corpus is as large as promised", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(150)
    expect(new Set(corpus.map(({ verdict }) => verdict))).toEqual(
      new Set<string>([...EgressUrlReason.literals, "ok", "allowed"])
    )
  })

  for (const kind of new Set(corpus.map((entry) => entry.class))) {
    test(kind, () => {
      const entries = corpus.filter((entry) => entry.class === kind)
      expect(entries.map(({ url }) => ({ url, verdict: verdictOf(url), class: kind }))).toEqual(entries)
    })
  }

  test("without an allow-list only public https passes", () => {
    for (const { url, verdict } of corpus.filter((entry) => entry.verdict === "allowed")) {
      const refused = checkEgressUrl(url, { ownHosts: options.ownHosts, allowedHosts: [] })
      expect([url, verdict, Result.isFailure(refused)]).toEqual([url, verdict, true])
    }
  })

  test("an accepted URL cannot inject a header into the request", () => {
    for (const { url } of corpus) {
      const checked = checkEgressUrl(url, options)
      if (Result.isFailure(checked)) continue
      const parsed = checked.success.url
      expect(`${parsed.pathname}${parsed.search}${parsed.host}`).toMatch(/^[\x21-\x7e]+$/)
    }
  })

  test("each reason tells the merchant what to do", () => {
    const messages = Object.values(webhookUrlAdvice)
    expect(new Set(messages).size).toBe(EgressUrlReason.literals.length)
    for (const message of messages) expect(message).toMatch(/^(Send|Use|Remove|Shorten) .{20,}\.$/)
  })
})
