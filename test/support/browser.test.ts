// The browser support itself: widths, schemes, clicks, and an accessibility check that finds violations.
import { expect } from "bun:test"
import { axeViolations, browserSuite, expectNoAxeViolations, newPage, screenshot } from "./browser.ts"

const browserTest = browserSuite()

const html = (body: string) =>
  `<!doctype html><html lang="en"><title>t</title><main><h1>Title</h1>${body}</main></html>`

browserTest("a page has the requested width and colour scheme", async () => {
  const page = await newPage({ width: 360, colorScheme: "dark" })
  expect(await page.evaluate("innerWidth")).toBe(360)
  expect(await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")).toBe(true)
  expect(await page.evaluate("matchMedia('(prefers-reduced-motion: reduce)').matches")).toBe(true)
  await page.context().close()
})

browserTest("clicks and the accessibility check also work inside a shadow root", async () => {
  const page = await newPage()
  await page.setContent(html("<div id=host></div>"))
  await page.evaluate(`{
    const root = host.attachShadow({ mode: "open" })
    root.innerHTML = "<button>Pay</button>"
    root.querySelector("button").onclick = () => { root.innerHTML = "<button></button>" }
  }`)
  await expectNoAxeViolations(page)
  await page.getByRole("button", { name: "Pay" }).click()
  expect(await axeViolations(page)).toEqual([expect.stringContaining("button-name")])
  await screenshot(page, "support")
  await page.context().close()
})
