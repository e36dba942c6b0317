// `bun src/app/guides/build.ts [DIRECTORY]`: builds the site of / and /docs into `dist/docs`. It writes
// markdown, which VitePress renders. A second process waits for the first and then has nothing to do.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { Effect } from "effect"
import { build } from "vitepress"
import { holdAlone } from "../../platform/database/FileLock.ts"
import { type Documents, documents } from "./documents.ts"
import { builtPlace, isUpToDate } from "./fromSources.ts"
import { callHtml } from "./reference.ts"
import { addressPlaceholder } from "./Site.ts"
import { guideGroups, sidebarOf } from "./site/sidebar.ts"

const out = resolve(process.argv[2] ?? builtPlace("docs"))
const work = `${out}.work`

const write = (path: string, text: string) => {
  const file = join(work, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const frontmatter = (fields: object) => `---\n${JSON.stringify(fields)}\n---\n`

const home = frontmatter({
  layout: "home",
  title: "Quittance: take USDC in your shop",
  titleTemplate: false,
  hero: {
    name: "Quittance",
    text: "Take USDC in your shop",
    tagline:
      "The buyer pays from a wallet, the service verifies the transfer on the chain, and your server gets a signed webhook.",
    actions: [
      { theme: "brand", text: "Quickstart", link: "/docs/quickstart" },
      { theme: "alt", text: "Dashboard", link: "/dashboard", target: "_self" },
      { theme: "alt", text: "Playground", link: "/playground", target: "_self" }
    ]
  },
  features: [
    {
      title: "Guides",
      details: "The checkout, webhooks, clients for TypeScript, Python and PHP, WooCommerce and Medusa.",
      link: "/docs",
      linkText: "Read the guides"
    },
    {
      title: "API reference",
      details: "A page for each endpoint, with its fields, an example to copy and its errors.",
      link: "/docs/reference",
      linkText: "All endpoints"
    },
    {
      title: "Errors",
      details: "Every code: what it means and what your program does about it.",
      link: "/docs/errors",
      linkText: "Look up a code"
    }
  ]
})

/** The list of all guides. */
const overview = ({ main }: Documents) =>
  `# Guides\n\n${guideGroups
    .map(({ text, has }) => {
      const items = main.filter(({ name }) => has(name))
      const lines = items.map(({ name, title, summary }) => `- [${title}](/docs/${name}) ${summary}`)
      return `## ${text}\n\n<div class="contents">\n\n${lines.join("\n")}\n\n</div>\n`
    })
    .join("\n")}`

/** Renders a line that is a call or an event as a separate element. */
const withCall = (markdown: string) =>
  markdown.replace(/^`([^`]+)`$/m, (_, call: string) => `<p class="call">${callHtml(call)}</p>`)

const writePages = (all: Documents) => {
  const page = (path: string, markdown: string) =>
    write(`${path}.md`, markdown.replaceAll("{base_url}", addressPlaceholder))
  page("index", home)
  page("docs", overview(all))
  for (const { name, markdown, page: shown } of all.main)
    page(
      `docs/${name}`,
      `${name === "errors" || name === "reference" ? frontmatter({ outline: 2 }) : ""}${shown ?? markdown}`
    )
  for (const { operations } of all.groups)
    for (const { name, markdown } of operations) page(`docs/${name}`, withCall(markdown))
}

/** VitePress reads its configuration and theme from here. */
const writeSettings = (all: Documents) => {
  const source = (name: string) => JSON.stringify(join(import.meta.dir, "site", name))
  write(
    ".vitepress/config.ts",
    `import { siteConfig } from ${source("siteConfig.ts")}
export default siteConfig(${JSON.stringify(sidebarOf(all))}, ${JSON.stringify(addressPlaceholder)}, ${JSON.stringify(join(work, ".vitepress/nothing.ts"))})
`
  )
  write(".vitepress/nothing.ts", "export default { render: () => null }\n")
  write(".vitepress/theme/index.ts", `export { theme as default } from ${source("theme.ts")}\n`)
}

mkdirSync(dirname(out), { recursive: true })
let lock = holdAlone(`${out}.lock`)
while (lock === undefined) {
  await Bun.sleep(50)
  lock = holdAlone(`${out}.lock`)
}
try {
  if (!isUpToDate(join(out, "index.html"))) {
    // Removes the rest of a killed build.
    rmSync(work, { recursive: true, force: true })
    const all = await Effect.runPromise(documents)
    writePages(all)
    writeSettings(all)
    const made = join(work, "made")
    await build(work, { outDir: made })
    rmSync(out, { recursive: true, force: true })
    renameSync(made, out)
  }
} finally {
  rmSync(work, { recursive: true, force: true })
  lock.close()
}
