// VitePress' default theme without its fonts, in the colours of the dashboard, and a link to each page as markdown.
import { type Theme, useData } from "vitepress"
import DefaultTheme from "vitepress/theme-without-fonts"
import { defineComponent, h } from "vue"
import { ErrorFilter } from "./ErrorFilter.ts"
import "./theme.css"

const MarkdownLink = defineComponent({
  name: "MarkdownLink",
  setup: () => {
    const { page } = useData()
    return () => {
      const { relativePath } = page.value
      const href = relativePath.startsWith("docs/") ? `/${relativePath}` : "/llms.txt"
      return h("nav", { "aria-label": "Other forms of this page" }, [
        h("a", { class: "markdown-link", href, target: "_self" }, "View as Markdown")
      ])
    }
  }
})

export const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "aside-outline-after": () => h(MarkdownLink) }),
  enhanceApp: ({ app }) => {
    app.component("ErrorFilter", ErrorFilter)
  }
}
