// The guide to errors, from the one catalogue: by what they are about, each with its status and what to do.
import { SchemaAST } from "effect"
import { errorCodes } from "../../domain/ErrorCode.ts"
import { Envelope } from "../../platform/http/Envelope.ts"

/** The envelope's shape in one line; optional fields end in a question mark. */
const shape = Object.entries(Envelope.fields.error.fields)
  .map(([name, { ast }]) => `"${name}"${SchemaAST.isOptional(ast) ? "?" : ""}`)
  .join(", ")

interface Entry {
  readonly status: number
  readonly retryable: boolean
}

interface Group {
  readonly title: string
  readonly advice: string
  readonly has: (code: Entry) => boolean
}

const groups: ReadonlyArray<Group> = [
  {
    title: "Not decided yet",
    advice:
      "The answer is 202 and carries the payment beside the error. Wait; the service looks again by itself.",
    has: ({ status }) => status < 300
  },
  {
    title: "The request is wrong",
    advice: "The same request fails again. `details` names each place; fix the code that made the request.",
    has: ({ status }) => [400, 402, 405, 413, 415].includes(status)
  },
  {
    title: "Who is asking",
    advice: "The caller may not do this as things are. Each code says what has to change.",
    has: ({ status }) => status === 401 || status === 403
  },
  {
    title: "Nothing there",
    advice: "It does not exist, or belongs to another merchant or environment: the answer is the same.",
    has: ({ status }) => status === 404 || status === 410
  },
  {
    title: "The state does not allow it",
    advice: "Read the object again and decide by its present state.",
    has: ({ status }) => status === 409 || status === 422
  },
  {
    title: "Not now",
    advice:
      "Send the same request again, where there is a `retry-after` after so many seconds. The client library does so by itself.",
    has: ({ retryable, status }) => retryable && (status === 408 || status === 429 || status >= 500)
  },
  {
    title: "Not set up",
    advice: "The operator of the service has to act first.",
    has: ({ retryable, status }) => !retryable && status >= 500
  }
]

const inCode = `\`\`\`ts
import { Quittance, QuittanceError } from "@quittance/client"

const quittance = new Quittance({ key: process.env.QUITTANCE_KEY ?? "", baseUrl: "{base_url}" })
try {
  await quittance.payments.retrieve("01a1fc34-7205-710e-9410-874fee9a4996")
} catch (error) {
  if (!(error instanceof QuittanceError)) throw error
  if (error.code === "PAYMENT_NOT_FOUND") console.log("no such payment")
  else if (error.retryable) console.log("try again in", error.retryAfter ?? 1, "seconds")
  else console.error(error.code, error.message, error.requestId, error.details)
}
\`\`\``

export const errorsGuide: string = `# Errors

Every error has one shape: \`{ "error": { ${shape} } }\`. Codes are stable: switch on \`code\`, show \`message\` to whoever develops, and keep \`requestId\` for questions. Bytes that are not an HTTP request (two lengths, broken chunks, a head of more than 16 KiB or 200 headers) are answered with a status alone, 400, 431 or 505, and the connection is closed.

${inCode}

${groups
  .map(
    ({ title, advice, has }) =>
      `## ${title}\n\n${advice}\n\n${Object.entries(errorCodes)
        .filter(([, entry]) => has(entry))
        .map(
          ([code, { status, retryable, summary }]) =>
            `### ${code}\n\nHTTP ${status}${retryable ? ", may succeed when sent again" : ""}. ${summary}`
        )
        .join("\n\n")}`
  )
  .join("\n\n")}
`

/** Codes that no group has. */
export const ungrouped = Object.entries(errorCodes)
  .filter(([, entry]) => !groups.some(({ has }) => has(entry)))
  .map(([code]) => code)
