// The session's cookie: `__Host-` and Secure under https, and never readable by scripts.
import { HttpServerResponse } from "effect/http"
import { browserMillis, sessionMillis } from "./accounts/Accounts.ts"

const isSecure = (baseUrl: string) => baseUrl.startsWith("https:")

export const cookieName = (baseUrl: string) =>
  isSecure(baseUrl) ? "__Host-quittance_session" : "quittance_session"

/** Tells a browser in which its person has signed in before from a stranger's. It opens nothing. */
export const browserCookieName = (baseUrl: string) =>
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

export const withBrowser = (baseUrl: string, token: string) =>
  setCookie(baseUrl, browserCookieName(baseUrl), token, browserMillis / 1000)
