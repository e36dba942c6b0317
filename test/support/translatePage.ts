// Translates a page as Chrome does: each text node is replaced by another one in two <font> elements.
import type { Page } from "playwright-core"

/**
 * Translates everything shown now, and later everything that appears. With `all` also elements that ask not to be
 * translated.
 */
export const translatePage = (page: Page, { all = false } = {}): Promise<unknown> =>
  page.evaluate(`(() => {
    const wraps = (node) => node.data.trim() !== "" && node.parentElement !== null &&
      !/^(font|script|style|option|textarea)$/i.test(node.parentElement.localName) &&
      (${all} || node.parentElement.closest("[translate=no]") === null)
    const translate = (root) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
      const nodes = []
      while (walker.nextNode()) if (wraps(walker.currentNode)) nodes.push(walker.currentNode)
      for (const node of nodes) {
        const [outer, inner] = [document.createElement("font"), document.createElement("font")]
        inner.append(document.createTextNode(node.data))
        outer.append(inner)
        node.replaceWith(outer)
      }
    }
    const roots = [document.body, ...[...document.querySelectorAll("quittance-checkout")].flatMap((one) => one.shadowRoot ?? [])]
    for (const root of roots) {
      translate(root)
      new MutationObserver(() => translate(root)).observe(root, { childList: true, subtree: true })
    }
  })()`)

/** The page's texts that translation may change. */
export const translatable = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const texts = []
    const walk = (root) => {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
      while (walker.nextNode()) if (walker.currentNode.parentElement.closest("[translate=no]") === null) texts.push(walker.currentNode.data)
      for (const one of root.querySelectorAll("quittance-checkout")) walk(one.shadowRoot)
    }
    walk(document.body)
    return texts.join("\\n")
  })()`)
