// A browser in which somebody is signed in.
import type { Page } from "playwright-core"
import { newContext, type PageOptions } from "../support/browser.ts"

/** A page of a context of its own. */
export const signedIn = async (baseUrl: string, cookie: string, options?: PageOptions): Promise<Page> => {
  const context = await newContext(options)
  const [name = "", value = ""] = cookie.split("=")
  await context.addCookies([{ name, value, url: baseUrl }])
  return context.newPage()
}
