// The session's cookie: `__Host-` and Secure under https, and never readable by scripts.
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { browserMillis } from "../../merchants/accounts/Accounts.ts"
import { sessionMillis } from "../../merchants/accounts/Session.ts"

const isSecure = (baseUrl: string) => baseUrl.startsWith("https:")

export const cookieName = (baseUrl: string) =>
  isSecure(baseUrl) ? "__Host-quittance_session" : "quittance_session"

/** Marks a browser in which the account has signed in before. It grants no access. */
const browserCookieName = (baseUrl: string) =>
  isSecure(baseUrl) ? "__Host-quittance_browser" : "quittance_browser"

const setCookie = (baseUrl: string, name: string, value: string, maxAgeSeconds: number) =>
  HttpServerResponse.setCookieUnsafe(name, value, {
    httpOnly: true,
    // Strict costs nothing here: pages are public files, and their own requests are same-site.
    sameSite: "strict",
    secure: isSecure(baseUrl),
    path: "/",
    maxAge: maxAgeSeconds * 1000
  })

/** The browser keeps it for as long as a session can last; the database decides when the session ends. */
export const withSession = (baseUrl: string, token: string) =>
  setCookie(baseUrl, cookieName(baseUrl), token, sessionMillis / 1000)

export const withoutSession = (baseUrl: string) => setCookie(baseUrl, cookieName(baseUrl), "", 0)

/** The number of accounts that can know one browser. */
const browserAccounts = 5

/**
 * A token for each account that knows the browser, the most recently used first. A token does not show its account.
 */
export const browserTokens = (
  baseUrl: string,
  { cookies }: HttpServerRequest.HttpServerRequest
): ReadonlyArray<string> =>
  (cookies[browserCookieName(baseUrl)] ?? "")
    .split(".")
    .filter((token) => /^[\w-]{43}$/.test(token))
    .slice(0, browserAccounts)

/** The tokens, the most recently used first; those beyond the fifth are forgotten. */
export const withBrowser = (baseUrl: string, tokens: ReadonlyArray<string>) =>
  setCookie(
    baseUrl,
    browserCookieName(baseUrl),
    tokens.slice(0, browserAccounts).join("."),
    browserMillis / 1000
  )
