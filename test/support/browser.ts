// A real headless Chromium for tests: pages of a given width and colour scheme, an accessibility check, and screenshots
// in the directory named by SCREENSHOTS.
import { afterAll, afterEach, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"

/** Without the desktop's user interface a page costs half the processor time. */
const candidates = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"]
export const chromiumPath =
  process.env["CHROMIUM"] ?? candidates.find((path) => existsSync(path)) ?? "/usr/bin/chromium"
export const hasChromium = existsSync(chromiumPath)

export interface PageOptions {
  /** CSS pixels; 1280 if absent. */
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: "light" | "dark"
  readonly reducedMotion?: "reduce" | "no-preference"
  readonly locale?: string
  readonly userAgent?: string
}

let running: Promise<Browser> | undefined

/** The browser that all tests of this process share; each launch has an empty profile. */
const browser = (): Promise<Browser> => {
  running ??= chromium.launch({
    executablePath: chromiumPath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-dev-shm-usage"
    ]
  })
  return running
}

const contexts = new Set<BrowserContext>()

/** Closes everything that the test has opened. */
export const closeContexts = async (): Promise<void> => {
  const open = [...contexts]
  contexts.clear()
  await Promise.all(open.map((context) => context.close()))
}

/** Its own cookies and storage, until the test ends. Its pages share them, as tabs do. */
export const newContext = async (options: PageOptions = {}): Promise<BrowserContext> => {
  const context = await (await browser()).newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.colorScheme ?? "light",
    reducedMotion: options.reducedMotion ?? "reduce",
    locale: options.locale ?? "en-US",
    ...(options.userAgent === undefined ? {} : { userAgent: options.userAgent })
  })
  context.setDefaultTimeout(30_000)
  contexts.add(context)
  return context
}

/** A page in a context of its own. */
export const newPage = async (options: PageOptions = {}): Promise<Page> =>
  (await newContext(options)).newPage()

/**
 * `test` in Chromium, skipped with the reason if there is none. Call it once in a file. Contexts last for a test, or
 * for the file.
 */
export const browserSuite = (last: "test" | "file" = "test") => {
  if (last === "test") afterEach(closeContexts)
  afterAll(async () => {
    const open = running
    running = undefined
    await (await open)?.close()
  }, 120_000)
  return (name: string, run: () => Promise<void>, timeoutMillis = 180_000): void =>
    hasChromium
      ? test(name, run, timeoutMillis)
      : test.skip(`${name}: no Chromium at ${chromiumPath}`, run, timeoutMillis)
}

/** Polls until the expression is true on the page. `waitForFunction` polls by `eval`, which a page's policy forbids. */
export const untilOn = async (page: Page, expression: string): Promise<void> => {
  const end = Date.now() + 30_000
  while ((await page.evaluate(expression)) !== true) {
    if (Date.now() > end) throw new Error(`the page never had ${expression}`)
    await Bun.sleep(50)
  }
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface AxeResult {
  readonly violations: ReadonlyArray<{
    readonly id: string
    readonly help: string
    readonly nodes: ReadonlyArray<{ readonly target: unknown; readonly failureSummary?: string }>
  }>
}

/** axe-core's violations of WCAG 2.2 A and AA and its best practices, one line each; shadow roots included. */
export const axeViolations = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axeSource)
  const result = await page.evaluate<AxeResult>(
    `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })`
  )
  return result.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id}: ${help}: ${JSON.stringify(target)} ${failureSummary ?? ""}`
    )
  )
}

/** Fails with every violation that axe-core finds on the present page. */
export const expectNoAxeViolations = async (page: Page): Promise<void> => {
  expect(await axeViolations(page)).toEqual([])
}

const screenshotDirectory = process.env["SCREENSHOTS"]

/** Writes `<name>.png`, the whole page, if SCREENSHOTS names a directory. */
export const screenshot = async (page: Page, name: string): Promise<void> => {
  if (screenshotDirectory === undefined) return
  mkdirSync(screenshotDirectory, { recursive: true })
  await page.screenshot({ path: join(screenshotDirectory, `${name}.png`), fullPage: true })
}
