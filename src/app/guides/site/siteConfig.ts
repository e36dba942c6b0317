// VitePress' configuration for the site of / and /docs.
import { type DefaultTheme, defineConfig, type UserConfig } from "vitepress"
import { codeTheme, grammars, jsonHtml } from "./codeTheme.ts"
import { idOf } from "./idOf.ts"

/** Pages of the service that are outside of this site: a click leaves it. */
const isElsewhere = (href: string) => /^\/(?:dashboard|playground|pay)\b/.test(href)

/** The searchable text of a page: its sections, each with the heading by which VitePress finds it. */
const searchable = (markdown: string) =>
  Bun.markdown
    .html(markdown.replace(/^---\n[\s\S]*?\n---\n/, ""))
    .replaceAll(/<h([1-6])>(.*?)<\/h\1>/g, (_, level: string, heading: string) => {
      const id = idOf(heading.replaceAll(/<[^>]+>|&\w+;/g, ""))
      return `<h${level}>${heading}<a href="#${id}"></a></h${level}>`
    })

/** For the service's policy: no inline styles, no missing files. Adds the front page's missing landmark. */
const strict = (html: string) =>
  html
    .replaceAll(/ style="[^"]*"/g, "")
    .replace(/\s*<link[^>]*vp-icons\.css[^>]*>/, "")
    .replace('<div class="VPHome ', '<div role="main" class="VPHome ')

/** Parts of VitePress' theme that this site does not show. */
const unused =
  /^.*\/VP(?:Team|Sponsors|DocAsideSponsors|HomeSponsors|DocAsideCarbonAds|CarbonAds|Algolia|SocialLink|NavBarSocialLinks|NavScreenSocialLinks|NavBarTranslations|NavScreenTranslations|DocFooterLastUpdated|Badge)\w*\.vue$/

/** The class of a table by the name of its first column. */
const tableClasses: Readonly<Record<string, string>> = {
  Field: "fields",
  Parameter: "fields",
  Code: "codes",
  Operation: "calls"
}

/** `address`: the placeholder for the service's address. `nothing`: a module whose component renders nothing. */
export const siteConfig = (
  sidebar: DefaultTheme.SidebarMulti,
  address: string,
  nothing: string
): UserConfig<DefaultTheme.Config> =>
  defineConfig({
    title: "Quittance",
    titleTemplate: ":title · Quittance",
    description: "Take USDC in your shop: guides, API reference and errors of this service.",
    cleanUrls: true,
    // Otherwise VitePress adds a style element to suppress transitions while the scheme changes.
    appearance: { disableTransition: false },
    metaChunk: true,
    assetsDir: "docs/assets",
    router: { prefetchLinks: false },
    head: [["link", { rel: "icon", href: "/favicon.ico" }]],
    transformHead: ({ page }) => {
      const path = page.replace(/\.md$/, "")
      const markdown = path.startsWith("docs/") ? `/${page}` : "/llms.txt"
      return [["link", { rel: "alternate", type: "text/markdown", href: markdown }]]
    },
    transformHtml: strict,
    markdown: {
      ...codeTheme,
      anchor: { slugify: idOf },
      attrs: { disable: true },
      config: (md) => {
        const shiki = md.options.highlight
        md.options.highlight = (code, language, attributes) =>
          language === "json"
            ? jsonHtml(md.utils.escapeHtml(code))
            : (shiki?.(code, grammars[language] ?? language, attributes) ?? "")
        // For Vue, a page without components is one string: as a template it would take twice as long.
        const render = md.render.bind(md)
        md.render = (source, env) => {
          const html = render(source, env)
          return html === "" || html.includes("<ErrorFilter")
            ? html
            : `<div v-html="${md.utils.escapeHtml(JSON.stringify(html))}"></div>`
        }
        const { rules } = md.renderer
        const tableOpen = rules["table_open"]
        const linkOpen = rules["link_open"]
        rules["table_open"] = (tokens, index, options, env, self) => {
          const head = tokens.slice(index).find(({ type }) => type === "inline")
          const html = tableOpen?.(tokens, index, options, env, self) ?? "<table>\n"
          const name = tableClasses[head?.content ?? ""]
          return name === undefined ? html : html.replace("<table", `<table class="${name}"`)
        }
        rules["link_open"] = (tokens, index, options, env, self) => {
          const link = tokens[index]
          if (isElsewhere(link?.attrGet("href") ?? "")) link?.attrSet("target", "_self")
          return linkOpen?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options)
        }
      }
    },
    themeConfig: {
      logo: { src: "/favicon.ico", alt: "" },
      nav: [
        { text: "Guides", link: "/docs", activeMatch: "^/docs(?!/reference|/errors)" },
        { text: "API reference", link: "/docs/reference", activeMatch: "^/docs/reference" },
        { text: "Errors", link: "/docs/errors", activeMatch: "^/docs/errors" },
        { text: "Playground", link: "/playground", target: "_self", noIcon: true },
        { text: "Dashboard", link: "/dashboard", target: "_self", noIcon: true }
      ],
      sidebar,
      outline: { level: [2, 3] },
      externalLinkIcon: true,
      search: {
        provider: "local",
        options: {
          detailedView: false,
          miniSearch: {
            searchOptions: { fuzzy: 0.15, prefix: true, boost: { title: 4, titles: 2, text: 1 } }
          },
          // Only words: no colours, and no placeholder URL, which nobody searches for.
          _render: (source) => searchable(source.replaceAll(address, ""))
        }
      }
    },
    vite: {
      esbuild: { sourcemap: false },
      resolve: { alias: [{ find: unused, replacement: nothing }] },
      // Saves seconds of the build for some kilobytes: minifying removes most unused code anyway.
      build: { target: "es2022", rollupOptions: { treeshake: false } }
    }
  })
