// The guides served at /docs, in reading order.
import agents from "../../../docs/guides/agents.md" with { type: "text" }
import buyerToken from "../../../docs/guides/buyer-token.md" with { type: "text" }
import checkout from "../../../docs/guides/checkout.md" with { type: "text" }
import clients from "../../../docs/guides/clients.md" with { type: "text" }
import goingLive from "../../../docs/guides/going-live.md" with { type: "text" }
import openMainnet from "../../../docs/guides/open-mainnet.md" with { type: "text" }
import plugins from "../../../docs/guides/plugins.md" with { type: "text" }
import quickstart from "../../../docs/guides/quickstart.md" with { type: "text" }
import testing from "../../../docs/guides/testing.md" with { type: "text" }
import webhooks from "../../../docs/guides/webhooks.md" with { type: "text" }

export interface Guide {
  /** The path below /docs. */
  readonly name: string
  readonly summary: string
  readonly markdown: string
}

export const guides: ReadonlyArray<Guide> = [
  {
    name: "quickstart",
    summary: "Take a payment and ship an order, on Node or in Python",
    markdown: quickstart
  },
  { name: "checkout", summary: "The element, its attributes and events, React and Vue", markdown: checkout },
  {
    name: "webhooks",
    summary: "Verify in TypeScript, Python, PHP and Go; the events feed",
    markdown: webhooks
  },
  {
    name: "clients",
    summary: "Libraries for TypeScript, Python and PHP; the command line",
    markdown: clients
  },
  { name: "plugins", summary: "WooCommerce and Medusa", markdown: plugins },
  {
    name: "testing",
    summary: "A service in memory, forwarding to your machine, test money",
    markdown: testing
  },
  {
    name: "going-live",
    summary: "What a merchant checks first, and when live payments settle",
    markdown: goingLive
  },
  { name: "agents", summary: "Agents that pay within caps, and being paid by agents", markdown: agents },
  {
    name: "buyer-token",
    summary: "The token of the paying wallet, for checkouts of your own",
    markdown: buyerToken
  },
  {
    name: "open-mainnet",
    summary: "For the operator: open Arbitrum One, step by step",
    markdown: openMainnet
  }
]

/** The first heading. */
export const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? ""
