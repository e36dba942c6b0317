// Requests to the agent proxy that come from a web page.
import { describe, expect, test } from "bun:test"
import { isFromBrowser } from "../../../../src/packages/agent-proxy/isFromBrowser.ts"

const chromium = "Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"

describe("a request", () => {
  test.each([
    ["with an origin", { origin: "https://evil.example" }],
    ["with a referer", { referer: "https://evil.example/" }],
    ["of a navigation", { "sec-fetch-mode": "navigate" }],
    ["of an image", { "sec-fetch-dest": "image", "user-agent": "node" }],
    ["with client hints", { "sec-ch-ua": '"Chromium"' }],
    ["of an old browser", { "user-agent": chromium }],
    ["of an unknown program", { "user-agent": "SomethingElse/1.0" }]
  ])("%s is a browser's", (_, headers) => expect(isFromBrowser(new Headers(headers))).toBe(true))

  test.each([
    ["without any mark", {}],
    ["of curl", { "user-agent": "curl/8.9.1" }],
    ["of Node's fetch", { "user-agent": "node", "sec-fetch-mode": "cors" }],
    ["of Python", { "user-agent": "python-requests/2.32" }],
    [
      "of an unknown program with the proxy's own header",
      { "user-agent": "Other/1", "quittance-request-id": "1" }
    ]
  ])("%s is a program's", (_, headers) => expect(isFromBrowser(new Headers(headers))).toBe(false))

  test("with the proxy's own header still counts as a browser's if it carries a browser's mark", () =>
    expect(isFromBrowser(new Headers({ "quittance-request-id": "1", origin: "null" }))).toBe(true))
})
