// `listen`: the feed of events, on to a developer's machine. A cursor in a file says how far it has come.
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Quittance } from "../client/Quittance.ts"
import type { Event } from "../client/resources.ts"
import type { Command } from "./Command.ts"
import { forward, receiverUrl } from "./forward.ts"
import { numberOf } from "./numberOf.ts"
import { given, readSettings, type Settings, settingsPath, writeOwn } from "./settings.ts"

const pollMillis = 500
const pageSize = 100

const orderOf = ({ payment }: Event) =>
  payment === null ? {} : { order: { paymentId: payment.id, intentUrl: payment.intentUrl } }

/** A cursor for each service, key and receiver: another of them begins anew. */
const cursorPath = ({ baseUrl, key }: Settings, url: string) => {
  const name = createHash("sha256").update(`${baseUrl}\n${key}\n${url}`).digest("hex").slice(0, 16)
  return join(dirname(settingsPath()), `listen-${name}`)
}

/** Empty where it was written before the first event. */
const readCursor = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8").trim()
  } catch {
    return undefined
  }
}

/** The newest event there is, to begin after it; empty where there is none. */
const newest = async (quittance: Quittance): Promise<string> => {
  let last = ""
  for await (const { event } of quittance.events.list({ limit: pageSize })) last = event.id
  return last
}

export const listen: Command = {
  summary: "Forward events to a URL, from where it last stopped",
  usage:
    "listen --forward-to http://localhost:3000/webhooks/quittance [--from-start] [--cursor FILE] [--patience 60]",
  options: {
    "forward-to": { type: "string" },
    cursor: { type: "string" },
    "from-start": { type: "boolean" },
    patience: { type: "string" }
  },
  required: ["forward-to"],
  run: async ({ flags, say, print }) => {
    const settings = readSettings(flags)
    const url = receiverUrl(flags["forward-to"] ?? "")
    const patienceSeconds = numberOf("patience", flags["patience"] ?? "60")
    const path = flags["cursor"] ?? cursorPath(settings, url)
    const quittance = new Quittance({ ...settings, retries: 6 })
    const storedCursor = readCursor(path)
    let cursor = storedCursor ?? (flags["from-start"] === "true" ? "" : await newest(quittance))
    writeOwn(path, cursor)
    say(`Forwarding events to ${url}${storedCursor ? `, after ${storedCursor}` : ""}. Ctrl-C stops it.`)
    // One that is set may be the shop's own, and what is said may be logged.
    const isSet = given(process.env, "WEBHOOK_SECRET") !== undefined
    say(
      `They are signed with ${isSet ? "the WEBHOOK_SECRET that is set." : `WEBHOOK_SECRET=${settings.webhookSecret}`}`
    )
    while (true) {
      const { events, hasMore } = await quittance.events.list({
        limit: pageSize,
        ...(cursor === "" ? {} : { after: cursor })
      })
      for (const one of events) {
        const status = await forward(url, one.event, {
          ...orderOf(one),
          secret: settings.webhookSecret,
          patienceSeconds,
          onWait: () => say(`${url} does not answer; trying again.`)
        })
        cursor = one.event.id
        writeOwn(path, cursor)
        const { id, type } = one.event
        print({ id, type, status }, `${type.padEnd(16)} ${id}  ->  ${status}`)
      }
      if (!hasMore) await new Promise((resolve) => setTimeout(resolve, pollMillis))
    }
  }
}
