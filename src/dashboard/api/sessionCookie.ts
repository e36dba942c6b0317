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

/** The browser keeps it for as long as a session can last; when it ends, the database decides. */
export const withSession = (baseUrl: string, token: string) =>
  setCookie(baseUrl, cookieName(baseUrl), token, sessionMillis / 1000)

export const withoutSession = (baseUrl: string) => setCookie(baseUrl, cookieName(baseUrl), "", 0)

/** Accounts that one browser is known to. */
const browserAccounts = 5

/** A token for each account that the browser is known to, the last used first. None says whose it is. */
export const browserTokens = (
  baseUrl: string,
  { cookies }: HttpServerRequest.HttpServerRequest
): ReadonlyArray<string> =>
  (cookies[browserCookieName(baseUrl)] ?? "")
    .split(".")
    .filter((token) => /^[\w-]{43}$/.test(token))
    .slice(0, browserAccounts)

/** The tokens, the last used first; those beyond the fifth are forgotten. */
export const withBrowser = (baseUrl: string, tokens: ReadonlyArray<string>) =>
  setCookie(
    baseUrl,
    browserCookieName(baseUrl),
    tokens.slice(0, browserAccounts).join("."),
    browserMillis / 1000
  )
