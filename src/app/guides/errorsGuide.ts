// The error guide, generated from the catalogue of codes: grouped by cause, each code with its status and remedy.
import { SchemaAST } from "effect"
import { errorCodes } from "../../domain/ErrorCode.ts"
import { Envelope } from "../../platform/http/Envelope.ts"

/** The envelope in one line; a question mark marks an optional field. */
const shape = Object.entries(Envelope.fields.error.fields)
  .map(([name, { ast }]) => `"${name}"${SchemaAST.isOptional(ast) ? "?" : ""}`)
  .join(", ")

interface Entry {
  readonly status: number
  readonly retryable?: true
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
      "The response is 202 and contains the payment as well as the error. The payment stays pending for now.",
    has: ({ status }) => status < 300
  },
  {
    title: "The request is invalid",
    advice: "Correct the request; the same request would fail again. `details` lists each invalid field.",
    has: ({ status }) => [400, 402, 405, 413, 415].includes(status)
  },
  {
    title: "The caller is not allowed",
    advice: "The caller may not do this at present. Each code says what has to change.",
    has: ({ status }) => status === 401 || status === 403
  },
  {
    title: "Not found",
    advice:
      "The object does not exist, or it belongs to another merchant or environment. The response is the same in both cases.",
    has: ({ status }) => status === 404 || status === 410
  },
  {
    title: "The current state does not allow it",
    advice: "Retrieve the object again and decide by its current state.",
    has: ({ status }) => status === 409 || status === 422
  },
  {
    title: "Temporarily unavailable",
    advice:
      "Send the same request again later. If the response has a `retry-after` header, wait that many seconds. The client libraries do this for you.",
    has: ({ retryable, status }) => retryable === true && (status === 408 || status === 429 || status >= 500)
  },
  {
    title: "The operator must act",
    advice: "The request cannot succeed until the service's operator acts.",
    has: ({ retryable, status }) => retryable === undefined && status >= 500
  }
]

const inCode = `## In code

\`\`\`ts
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

const opening = `# Errors

Look up an error code here: its HTTP status, its cause and its remedy. Every error response has the same shape:

\`\`\`
{ "error": { ${shape} } }
\`\`\`

- \`code\` is stable; base your program's decisions on it.
- \`message\` is for developers.
- \`requestId\` identifies the request when you ask the operator about it.`

const closing = `## Bytes that are not an HTTP request

If the bytes do not parse as an HTTP request, the response is a bare status without this envelope (400, 431 or 505), and the connection is closed. Examples are two lengths, broken chunks, and a head of more than 16 KiB or 200 headers.`

const entriesOf = ({ has }: Group) => Object.entries(errorCodes).filter(([, entry]) => has(entry))

const statusOf = ({ retryable, status }: Entry) =>
  `HTTP ${status}${retryable === true ? ", may succeed when sent again" : ""}.`

const sections = groups.map(
  (group) =>
    `## ${group.title}\n\n${group.advice}\n\n${entriesOf(group)
      .map(([code, entry]) => `### ${code}\n\n${statusOf(entry)} ${entry.summary}`)
      .join("\n\n")}`
)

export const errorsGuide: string = `${[opening, inCode, ...sections, closing].join("\n\n")}\n`

const indexOf = (group: Group) =>
  `<li><strong>${group.title}</strong> ${entriesOf(group)
    .map(([code]) => `<a href="#${code}" data-code="${code}">${code}</a>`)
    .join(" ")}</li>`

/** The same for the site: the filter, an index of all codes, and what the filter hides apart from the rest. */
export const errorsPage: string = `${[
  opening,
  "## All codes",
  "<ErrorFilter />",
  `<ul class="error-index">${groups.map(indexOf).join("")}</ul>`,
  inCode,
  ...groups.map((group) =>
    [
      `<div class="error-group">`,
      `## ${group.title}`,
      group.advice,
      ...entriesOf(group).flatMap(([code, entry]) => [
        `<div class="error-entry" data-code="${code}">`,
        `### ${code}`,
        `<p class="error-status">${statusOf(entry)}</p>`,
        entry.summary,
        "</div>"
      ]),
      "</div>"
    ].join("\n\n")
  ),
  closing
].join("\n\n")}\n`

/** Codes that belong to no group. */
export const ungrouped = Object.entries(errorCodes)
  .filter(([, entry]) => !groups.some(({ has }) => has(entry)))
  .map(([code]) => code)
