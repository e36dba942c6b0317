// `listen` forwards the feed of events to a developer's machine. A file stores the cursor between runs.
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Quittance } from "../client/Quittance.ts"
import type { Event } from "../client/resources.ts"
import type { Command } from "./Command.ts"
import { endpointUrl, forward } from "./forward.ts"
import { numberOf } from "./numberOf.ts"
import { readSettings, type Settings, settingsPath, signedWith, writeOwn } from "./settings.ts"

const pollMillis = 500
const pageSize = 100

const orderOf = ({ payment }: Event) =>
  payment === null ? {} : { order: { paymentId: payment.id, intentUrl: payment.intentUrl } }

/** Each combination of service, key and endpoint has its own cursor. */
const cursorPath = ({ baseUrl, key }: Settings, url: string) => {
  const name = createHash("sha256").update(`${baseUrl}\n${key}\n${url}`).digest("hex").slice(0, 16)
  return join(dirname(settingsPath()), `listen-${name}`)
}

/** Empty if the file was written before the first event. */
const readCursor = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8").trim()
  } catch {
    return undefined
  }
}

/** The id of the newest event, so that forwarding starts after it; empty if there is no event. */
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
    "forward-to": { type: "string", about: "The endpoint that gets the events" },
    cursor: {
      type: "string",
      about: "The file with the last forwarded event; by default one for each endpoint"
    },
    "from-start": { type: "boolean", about: "On the first run, forward all events instead of only new ones" },
    patience: { type: "string", about: "Seconds to wait for an endpoint that does not respond (60)" }
  },
  required: ["forward-to"],
  run: async ({ flags, say, print }) => {
    const settings = readSettings(flags)
    const url = endpointUrl(flags["forward-to"] ?? "")
    const patienceSeconds = numberOf("patience", flags["patience"], 60)
    const path = flags["cursor"] ?? cursorPath(settings, url)
    const quittance = new Quittance({ ...settings, retries: 6 })
    const storedCursor = readCursor(path)
    let cursor = storedCursor ?? (flags["from-start"] === "true" ? "" : await newest(quittance))
    writeOwn(path, cursor)
    say(`Forwarding events to ${url}${storedCursor ? `, after ${storedCursor}` : ""}. Ctrl-C stops it.`)
    if (storedCursor !== undefined && flags["from-start"] === "true")
      say(`--from-start has no effect after the first run. To forward all events again, delete ${path}.`)
    say(signedWith(settings))
    while (true) {
      const { events, hasMore } = await quittance.events.list({
        limit: pageSize,
        ...(cursor === "" ? {} : { after: cursor })
      })
      for (const item of events) {
        const status = await forward(url, item.event, {
          ...orderOf(item),
          secret: settings.webhookSecret,
          patienceSeconds,
          advice: `Nothing is lost: start again to continue with ${item.event.id}.`,
          onWait: () => say(`${url} does not respond; trying again.`)
        })
        cursor = item.event.id
        writeOwn(path, cursor)
        const { id, type } = item.event
        print({ id, type, status }, `${type.padEnd(16)} ${id}  ->  ${status}`)
      }
      if (!hasMore) await new Promise((resolve) => setTimeout(resolve, pollMillis))
    }
  }
}
