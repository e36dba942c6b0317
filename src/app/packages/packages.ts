// The packages that people install: what each is made of, and what its package.json says.

export interface PackagePlan {
  readonly name: string
  readonly description: string
  /** Exports by path, each a source of this room. */
  readonly exports: Readonly<Record<string, string>>
  /** A command for Node and Bun, by its name and its source. */
  readonly bin?: { readonly name: string; readonly source: string }
  readonly manifest?: Readonly<Record<string, unknown>>
  /** What a bundle leaves to whoever installs it. */
  readonly external?: ReadonlyArray<string>
  readonly readme: string
}

const anyPeer = (names: ReadonlyArray<string>) => ({
  peerDependencies: Object.fromEntries(names.map((name) => [name, "*"])),
  peerDependenciesMeta: Object.fromEntries(names.map((name) => [name, { optional: true }]))
})

export const packages: ReadonlyArray<PackagePlan> = [
  {
    name: "@quittance/client",
    description: "Quittance for a shop's server: intents, payments, events, webhooks, and a mock for tests.",
    exports: { ".": "client.ts" },
    readme: `# @quittance/client

For Node 20 and later, Bun, Deno and workers. No dependencies.

\`\`\`ts
import { Quittance, verifyDelivery } from "@quittance/client"

const quittance = new Quittance({ key: process.env.QUITTANCE_KEY, baseUrl: process.env.QUITTANCE_URL })
const { intentToken, paymentId } = await quittance.paymentIntents.create({
  amount: "10.00",
  intentUrl: "https://shop.example.com/orders/1042"
})
const { event, order } = await verifyDelivery(rawBody, headers, process.env.WEBHOOK_SECRET)
\`\`\`

Errors are \`QuittanceError\` with a stable \`code\`. The guides are at \`/docs\` of your service.
`
  },
  {
    name: "@quittance/checkout",
    description: "Loads the Quittance checkout element; thin wrappers for React and Vue.",
    exports: {
      ".": "checkout.ts",
      "./react": "react/QuittanceCheckout.ts",
      "./vue": "vue/QuittanceCheckout.ts"
    },
    external: ["react", "vue"],
    manifest: anyPeer(["react", "vue"]),
    readme: `# @quittance/checkout

\`\`\`ts
import { loadCheckout } from "@quittance/checkout"

await loadCheckout("https://pay.example.com")
// <quittance-checkout intent-token="eyJ…" publishable-key="pk_test_…"></quittance-checkout>
\`\`\`

For React: \`import { QuittanceCheckout } from "@quittance/checkout/react"\`. For Vue: from \`@quittance/checkout/vue\`.
Ship goods on the webhook, never on the element's events.
`
  },
  {
    name: "@quittance/medusa",
    description: "A payment provider for Medusa 2: USDC, paid on the page of a Quittance service.",
    exports: { ".": "medusa/QuittancePaymentProvider.ts" },
    external: ["@medusajs/framework"],
    manifest: { peerDependencies: { "@medusajs/framework": "^2.10.0" } },
    readme: `# @quittance/medusa

In \`medusa-config.ts\`, where the shop's currency is USD:

\`\`\`ts
modules: [
  {
    resolve: "@medusajs/medusa/payment",
    options: {
      providers: [
        {
          resolve: "@quittance/medusa",
          id: "quittance",
          options: {
            baseUrl: "https://pay.example.com",
            secretKey: process.env.QUITTANCE_KEY,
            publishableKey: process.env.QUITTANCE_PUBLISHABLE_KEY,
            signingSecret: process.env.QUITTANCE_WEBHOOK_SECRET,
            returnUrl: "https://shop.example.com/checkout/return"
          }
        }
      ]
    }
  }
]
\`\`\`

Register \`https://your-medusa/hooks/payment/quittance_quittance\` as your webhook endpoint. The storefront
sends the buyer to the session's \`data.payUrl\`. A refund first asks you to send the money from your wallet;
once the chain has proven it, the same refund is done. One that you have made in your Quittance dashboard instead
is recorded by a refund with its id in the note. Of a payment that completes no order, as its total has
changed or its session was deleted meanwhile, a refund waits in your Quittance dashboard, and the log says so.
`
  },
  {
    name: "@quittance/cli",
    description: "What a shop's developer does by key: listen, trigger, payments, webhooks, open.",
    exports: {},
    bin: { name: "quittance", source: "cli.ts" },
    readme: `# @quittance/cli

\`\`\`sh
npx @quittance/cli login --url https://pay.example.com
npx @quittance/cli listen --forward-to http://localhost:3000/webhooks/quittance
\`\`\`

Node 20 and later, or Bun. \`quittance help\` lists the commands.
`
  },
  {
    name: "@quittance/agent-proxy",
    description: "Pays x402 for an agent, within its cap: an HTTP proxy, and an MCP server with --mcp.",
    exports: {},
    bin: { name: "quittance-agent-proxy", source: "agent-proxy/main.ts" },
    readme: `# @quittance/agent-proxy

\`\`\`sh
SERVICE_AGENT_KEY=ak_test_… SERVICE_BASE_URL=https://pay.example.com npx @quittance/agent-proxy
\`\`\`

Node 20 and later, or Bun. With \`--mcp\` it speaks MCP on standard input and output.
`
  }
]
