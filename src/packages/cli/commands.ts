// The short commands: login, payments, webhooks, trigger, open.
import { spawn } from "node:child_process"
import { pluralised } from "../../domain/pluralised.ts"
import { atomicOf, isAmount } from "../client/mockResponses.ts"
import { Quittance } from "../client/Quittance.ts"
import { QuittanceError } from "../client/QuittanceError.ts"
import type { Payment } from "../client/resources.ts"
import { askSecret } from "./askSecret.ts"
import type { Command } from "./Command.ts"
import { CommandRefused } from "./CommandRefused.ts"
import { endpointUrl, forward } from "./forward.ts"
import { numberOf } from "./numberOf.ts"
import { envValue, readSettings, signedWith, storeSettings } from "./settings.ts"

const promptForKey = (): Promise<string> => {
  if (process.stdin.isTTY !== true)
    throw new CommandRefused("Pass the key with --key, or set QUITTANCE_KEY: there is no terminal.")
  return askSecret("Secret key (sk_test_…, hidden as you type): ")
}

const login: Command = {
  summary: "Store the service's address and a secret key on this machine",
  usage: "login --url https://pay.example.com [--key sk_test_…]",
  options: {},
  required: ["url"],
  run: async ({ flags, print }) => {
    const key = flags["key"] ?? envValue(process.env, "QUITTANCE_KEY") ?? (await promptForKey())
    const settings = readSettings({ url: flags["url"], key })
    await new Quittance(settings).payments.list({ limit: 1 })
    const path = storeSettings(settings)
    print({ path, baseUrl: settings.baseUrl }, `Logged in to ${settings.baseUrl}. Stored in ${path}.`)
  }
}

const line = ({ id, status, amount, intentUrl }: Payment) =>
  `${id}  ${status.padEnd(8)}${amount.padStart(12)}  ${intentUrl}`

const payments: Command = {
  summary: "List payments, newest first, or show one",
  usage: "payments [ID] [--limit 20] [--order URL] [--transaction 0x…]",
  options: {
    limit: { type: "string", about: "The number of payments, 1 to 100 (20)" },
    order: { type: "string", about: "Only payments with this intentUrl" },
    transaction: { type: "string", about: "Only the payment that this transaction settled" }
  },
  run: async ({ flags, words: [id], print }) => {
    const quittance = new Quittance(readSettings(flags))
    if (id !== undefined) {
      const payment = await quittance.payments.retrieve(id)
      return print({ payment }, JSON.stringify(payment, undefined, 2))
    }
    const page = await quittance.payments.list({
      limit: numberOf("limit", flags["limit"], 20),
      ...(flags["order"] === undefined ? {} : { intentUrl: flags["order"] }),
      ...(flags["transaction"] === undefined ? {} : { transactionId: flags["transaction"] })
    })
    print(page, page.payments.length === 0 ? "No payments." : page.payments.map(line).join("\n"))
  }
}

const resend: Command = {
  summary: "Resend an event",
  usage: "webhooks resend EVENT",
  options: {},
  words: ["an event's id"],
  run: async ({ flags, words: [id = ""], print }) => {
    const delivery = await new Quittance(readSettings(flags)).events.resend(id)
    const attempt = delivery.attempts.at(-1)
    print({ delivery }, `${id}  ${delivery.status}  ${attempt?.responseStatus ?? attempt?.failure ?? ""}`)
  }
}

/** The outcome of a resend. If somebody else is resending the event at the moment, nothing more is needed. */
const resent = async (quittance: Quittance, id: string): Promise<string> => {
  try {
    return (await quittance.events.resend(id)).status
  } catch (error) {
    if (error instanceof QuittanceError && error.code === "DELIVERY_PENDING") return "under way"
    throw error
  }
}

const replay: Command = {
  summary: "Resend every event that failed or had no endpoint, oldest first",
  usage: "webhooks replay [--after EVENT]",
  options: { after: { type: "string", about: "Start after the event with this id" } },
  run: async ({ flags, print }) => {
    // The service accepts ten resends a minute; the client waits as long as the service says.
    const quittance = new Quittance({ ...readSettings(flags), retries: 8 })
    let count = 0
    let failed = 0
    const from = flags["after"] === undefined ? {} : { after: flags["after"] }
    for await (const { event, delivery } of quittance.events.list({ limit: 100, ...from })) {
      if (event.type === "test" || (delivery !== "failed" && delivery !== "cancelled")) continue
      const status = await resent(quittance, event.id)
      if (status === "delivered") count += 1
      else if (status !== "under way") failed += 1
      print({ id: event.id, status }, `${event.id}  ${status}`)
    }
    print(
      { count, ...(failed === 0 ? {} : { failed }) },
      `Delivered ${pluralised(count, "event")}.${failed === 0 ? "" : ` Your endpoint did not accept ${pluralised(failed, "event")}.`}`
    )
  }
}

const triggerTest: Command = {
  summary: "Have the service send a signed test event to the webhook endpoint",
  usage: "trigger test",
  options: {},
  run: async ({ flags, print }) => {
    const { delivery, endpoint } = await new Quittance(readSettings(flags)).webhookEndpoint.test()
    print({ delivery }, `test  ${delivery.id}  ${delivery.status}  ${endpoint.url}`)
  }
}

const triggerSettled: Command = {
  summary: "Send a signed sample of payment.settled to a URL; nothing is paid",
  usage:
    "trigger payment.settled --forward-to http://localhost:3000/webhooks/quittance [--order URL] [--amount 10.00]",
  options: {
    "forward-to": { type: "string", about: "The URL that gets the sample" },
    order: { type: "string", about: "The sample's intentUrl (https://shop.example.com/orders/1042)" },
    amount: { type: "string", about: "The sample's amount in USD (10.00)" }
  },
  required: ["forward-to"],
  run: async ({ flags, print, say }) => {
    const settings = readSettings(flags)
    say(signedWith(settings))
    const url = endpointUrl(flags["forward-to"] ?? "")
    const amount = flags["amount"] ?? "10.00"
    if (!isAmount(amount))
      throw new CommandRefused(
        `${amount} is not an amount. Use USD with at most six decimals, such as 10.00.`,
        2
      )
    const id = crypto.randomUUID()
    const status = await forward(
      url,
      {
        id,
        type: "payment.settled",
        livemode: false,
        transactionId: `0x${"00".repeat(32)}`,
        tokenChanges: [
          {
            amountAtomic: atomicOf(amount).toString(),
            chainId: 84_532,
            receiver: `0x${"00".repeat(20)}`,
            tokenAddress: "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
          }
        ]
      },
      {
        order: {
          paymentId: crypto.randomUUID(),
          intentUrl: flags["order"] ?? "https://shop.example.com/orders/1042"
        },
        secret: settings.webhookSecret,
        patienceSeconds: 5,
        advice: "Start your server, then try again.",
        onWait: () => say(`${url} does not respond; trying again.`)
      }
    )
    print({ id, status }, `payment.settled  ${id}  ->  ${status}`)
  }
}

const openers: { readonly [platform: string]: string } = { darwin: "open", win32: "explorer" }

const open: Command = {
  summary: "Open the dashboard, the playground or the documentation in a browser",
  usage: "open [dashboard|playground|docs]",
  options: {},
  run: async ({ flags, words: [page = "dashboard"], print }) => {
    if (!["dashboard", "playground", "docs"].includes(page))
      throw new CommandRefused(`There is no page ${page}. Use dashboard, playground or docs.`, 2)
    const url = new URL(`/${page}`, readSettings(flags).baseUrl).href
    print({ url }, url)
    const opener = spawn(openers[process.platform] ?? "xdg-open", [url], { detached: true, stdio: "ignore" })
    // The command has printed the URL, so people without a browser can open it themselves.
    opener.on("error", () => {})
    opener.unref()
  }
}

export const commands: Readonly<Record<string, Command>> = {
  login,
  payments,
  "webhooks resend": resend,
  "webhooks replay": replay,
  "trigger test": triggerTest,
  "trigger payment.settled": triggerSettled,
  open
}
