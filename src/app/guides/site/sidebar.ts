// The navigation beside the guides and beside the reference, as build.ts passes it to VitePress.
import type { DefaultTheme } from "vitepress"
import type { Documents } from "../documents.ts"
import { idOf } from "./idOf.ts"

const link = (name: string) => `/docs/${name}`

/** Puts `POST` before the title, in the method's colour. An event has no method. */
const titled = (title: string, call: string) => {
  const method = /^([A-Z]+) /.exec(call)?.[1]
  return method === undefined
    ? title
    : `<span class="method ${method.toLowerCase()}">${method === "DELETE" ? "DEL" : method}</span>${title}`
}

const start = ["quickstart", "checkout", "webhooks", "clients", "plugins", "testing", "going-live"]
const operation = ["open-mainnet"]
const isReference = (name: string) => name === "errors" || name === "reference"

/** The guides' headings, each with the documents below it. */
export const guideGroups: ReadonlyArray<{
  readonly text: string
  readonly has: (name: string) => boolean
}> = [
  { text: "Take payments", has: (name) => start.includes(name) },
  {
    text: "Go further",
    has: (name) => !start.includes(name) && !operation.includes(name) && !isReference(name)
  },
  { text: "Run the service", has: (name) => operation.includes(name) },
  { text: "Reference", has: isReference }
]

export const sidebarOf = ({ groups, main }: Documents): DefaultTheme.SidebarMulti => {
  const itemsOf = (has: (name: string) => boolean) =>
    main.filter(({ name }) => has(name)).map(({ name, title }) => ({ text: title, link: link(name) }))
  return {
    "/docs/reference": [
      {
        text: "API reference",
        items: [
          { text: "All endpoints", link: link("reference") },
          { text: "Errors", link: link("errors") },
          { text: "Guides", link: "/docs" }
        ]
      },
      ...groups.map(({ name, operations }) => ({
        text: name,
        link: `${link("reference")}#${idOf(name)}`,
        collapsed: true,
        items: operations.map((operation) => ({
          text: titled(operation.title, operation.call),
          link: link(operation.name)
        }))
      }))
    ],
    "/docs": [
      { text: "All guides", link: "/docs" },
      ...guideGroups.map(({ text, has }) => ({ text, items: itemsOf(has) }))
    ]
  }
}
