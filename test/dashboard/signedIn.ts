// A browser with a signed-in person.
import type { Page } from "playwright-core"
import { newContext, type PageOptions } from "../support/browser.ts"

/** A page in its own context. */
export const signedIn = async (baseUrl: string, cookie: string, options?: PageOptions): Promise<Page> => {
  const context = await newContext(options)
  const [name = "", value = ""] = cookie.split("=")
  await context.addCookies([{ name, value, url: baseUrl }])
  return context.newPage()
}
