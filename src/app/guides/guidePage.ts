// A guide as a page: no scripts, one style sheet of its own, nothing from elsewhere.
import { createHash } from "node:crypto"
import { policyOf } from "../../platform/pages/pageHeaders.ts"
import { titleOf } from "./guides.ts"

const styles = `:root { color-scheme: light dark; --line: light-dark(#ddd, #333); --soft: light-dark(#f5f5f7, #1c1c20); --link: light-dark(#3730a3, #a5b4fc) }
* { box-sizing: border-box } body { font: 16px/1.6 system-ui, sans-serif; margin: 0; display: grid; grid-template-columns: 13rem minmax(0, 48rem); gap: 2rem; padding: 1.5rem; justify-content: center }
nav a { display: block; padding: .2rem 0; text-decoration: none } nav a[aria-current] { font-weight: 600 } a { color: var(--link) }
h1 { font-size: 1.8rem; line-height: 1.2; margin-top: 0 } h2 { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: 1rem } h3 { margin-top: 2rem; overflow-wrap: anywhere } :target { outline: 2px solid; outline-offset: 4px }
pre { background: var(--soft); border-radius: 8px; padding: 1rem; overflow: auto } code { font: .875em ui-monospace, monospace; overflow-wrap: anywhere } pre code { overflow-wrap: normal }
table { border-collapse: collapse; display: block; overflow: auto } th, td { border-bottom: 1px solid var(--line); padding: .4rem .8rem .4rem 0; text-align: left; vertical-align: top }
@media (max-width: 50rem) { body { display: block; padding: 1rem } nav { columns: 2; border-bottom: 1px solid var(--line); padding-bottom: 1rem; margin-bottom: 1.5rem } }`

export const guidePolicy = policyOf({
  "style-src": `'sha256-${createHash("sha256").update(styles).digest("base64")}'`,
  "img-src": "'self'"
})

/** Codes keep their letters: errors link to them. */
const idOf = (heading: string) => {
  const text = heading.replaceAll(/<[^>]+>|&\w+;/g, "")
  return /^[A-Z0-9_]+$/.test(text)
    ? text
    : text
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "-")
        .replaceAll(/^-|-$/g, "")
}

export interface NavigationLink {
  readonly path: string
  readonly title: string
}

export const guidePage = (
  markdown: string,
  path: string,
  navigation: ReadonlyArray<NavigationLink>
): string => {
  const body = Bun.markdown
    .html(markdown)
    .replaceAll(
      /<h([123])>(.*?)<\/h\1>/g,
      (_, level, text) => `<h${level} id="${idOf(text)}">${text}</h${level}>`
    )
  const links = navigation.map(
    (one) => `<a href="${one.path}"${one.path === path ? ' aria-current="page"' : ""}>${one.title}</a>`
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${titleOf(markdown)} · Quittance</title>
<link rel="icon" href="/favicon.ico">
<link rel="alternate" type="text/markdown" href="${path === "/docs" || path === "/" ? "/llms.txt" : `${path}.md`}">
<style>${styles}</style>
</head>
<body>
<nav aria-label="Guides">${links.join("\n")}</nav>
<main>${body}</main>
</body>
</html>
`
}
