// The pages of a merchant, in the order of the navigation. A new page is one line here.
import type { ComponentType } from "preact"
import { Agent } from "./Agent.tsx"
import { Agents } from "./Agents.tsx"
import { Alerts } from "./Alerts.tsx"
import { Books } from "./Books.tsx"
import { Delivery } from "./Delivery.tsx"
import type { IconName } from "./Icon.tsx"
import { Keys } from "./Keys.tsx"
import { Links } from "./Links.tsx"
import { Overview } from "./Overview.tsx"
import { Payment } from "./Payment.tsx"
import { Payments } from "./Payments.tsx"
import { Settings } from "./Settings.tsx"
import { VerifySignature } from "./VerifySignature.tsx"
import { Webhooks } from "./Webhooks.tsx"

interface PageEntry {
  readonly title: string
  readonly icon: IconName
  /** The component for the page itself, or for one of its items. */
  readonly component: (id: string | undefined) => ComponentType
}

/** By the part of the path after the environment. */
export const pages: Readonly<Record<string, PageEntry>> = {
  "": { title: "Overview", icon: "overview", component: () => Overview },
  payments: {
    title: "Payments",
    icon: "payments",
    component: (id) => (id === undefined ? Payments : Payment)
  },
  links: { title: "Payment links", icon: "link", component: () => Links },
  books: { title: "Books", icon: "books", component: () => Books },
  agents: { title: "Agents", icon: "agents", component: (id) => (id === undefined ? Agents : Agent) },
  keys: { title: "API keys", icon: "keys", component: () => Keys },
  webhooks: {
    title: "Webhooks",
    icon: "webhooks",
    component: (id) => (id === undefined ? Webhooks : id === "verify" ? VerifySignature : Delivery)
  },
  alerts: { title: "Needs attention", icon: "alerts", component: () => Alerts },
  settings: { title: "Settings", icon: "settings", component: () => Settings }
}
