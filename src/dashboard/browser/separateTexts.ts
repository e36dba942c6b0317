// Page translation, such as Chrome's, moves text nodes into its own elements, so a node that Preact changes afterwards
// is no longer on the page. Each text therefore has its own element, and a changed text is a new element.
import { type ComponentChild, createElement, Fragment, options, type VNode } from "preact"
import { partsOf } from "../../platform/pages/browser/partsOf.ts"

/** These cannot contain an element; each is replaced as a whole. */
const bare: ReadonlySet<unknown> = new Set([
  "option",
  "textarea",
  "title",
  "text",
  "tspan",
  "style",
  "script"
])

/** Elements that always contain data: statuses, times, codes, hashes. */
const dataTags: ReadonlySet<unknown> = new Set(["code", "pre", "time", "kbd"])
const dataClasses = /(^| )(amount|badge|mono)( |$)/

const runName = "text-run"

const isText = (child: unknown): child is string | number =>
  (typeof child === "string" && child !== "") || typeof child === "number"

/** The data in a text is not translated. */
const runOf = (child: ComponentChild, index: number): ComponentChild =>
  isText(child)
    ? createElement(
        runName,
        { key: `${index} ${child}` },
        ...partsOf(String(child)).map((part, place) =>
          place % 2 === 0 ? part : createElement(runName, { translate: false }, part)
        )
      )
    : child

interface Props {
  children?: ComponentChild | ReadonlyArray<ComponentChild>
  class?: unknown
  translate?: boolean
}

/** Call once, before anything is rendered. */
export const separateTexts = (): void => {
  const before = options.vnode
  options.vnode = (vnode: VNode<Props>) => {
    before?.(vnode)
    const { type } = vnode
    if (type === runName || (typeof type !== "string" && type !== Fragment)) return
    const { children, class: classes } = vnode.props
    if (dataTags.has(type) || (typeof classes === "string" && dataClasses.test(classes)))
      vnode.props = { ...vnode.props, translate: false }
    const all = Array.isArray(children) ? children : [children]
    if (!all.some(isText)) return
    if (bare.has(type)) vnode.key ??= all.join("")
    else vnode.props = { ...vnode.props, children: all.map(runOf) }
  }
}
