// What an agent may do, to be made or changed.
import { useEffect } from "preact/hooks"
import type { ApiError } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { type Edits, useEdits } from "./useEdits.ts"

/** As the API takes it; an empty list is any. */
export interface AgentFields {
  readonly name: string
  readonly capPerPayment: string
  readonly capPerDay: string
  readonly allowedHosts: ReadonlyArray<string> | null
  readonly allowedPayees: ReadonlyArray<string> | null
}

const noFields: AgentFields = {
  name: "",
  capPerPayment: "",
  capPerDay: "",
  allowedHosts: null,
  allowedPayees: null
}

const linesOf = (text = ""): ReadonlyArray<string> | null => {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  return lines.length === 0 ? null : lines
}

const fieldsFrom = (form: Readonly<Record<string, string>>): AgentFields => ({
  name: form["name"]?.trim() ?? "",
  capPerPayment: form["capPerPayment"]?.trim() ?? "",
  capPerDay: form["capPerDay"]?.trim() ?? "",
  allowedHosts: linesOf(form["allowedHosts"]),
  allowedPayees: linesOf(form["allowedPayees"])
})

const names = ["name", "capPerPayment", "capPerDay"]
const lists = ["allowedHosts", "allowedPayees"]

/** What is wrong with a list as a whole, or with its first wrong line. */
const listError = (error: ApiError | undefined, name: string): string | undefined => {
  const detail = error?.details.find(
    ({ path }) => path === `body.${name}` || path.startsWith(`body.${name}.`)
  )
  if (detail === undefined) return undefined
  const index = /\.(\d+)$/.exec(detail.path)?.[1]
  return index === undefined ? detail.message : `Entry ${Number(index) + 1}: ${detail.message}`
}

export const AgentForm = (props: {
  readonly value?: AgentFields
  readonly action: string
  readonly busy: boolean
  readonly error: ApiError | undefined
  readonly onSubmit: (fields: AgentFields, edits: Edits<AgentFields>) => void
  readonly onCancel: () => void
}) => {
  const { error, value } = props
  const edits = useEdits(value ?? noFields)
  useEffect(() => void edits.failed(error), [error])
  const explained =
    names.some((name) => error?.of(name) !== undefined) ||
    lists.some((name) => listError(error, name) !== undefined)
  return (
    <form
      class="stack"
      onInput={edits.onInput}
      onSubmit={(event) => {
        const fields = fieldsFrom(fieldsOf(event))
        props.onSubmit(fields, edits.editsOf(fields))
      }}
    >
      <Field label="Name" name="name" required value={value?.name ?? ""} error={error?.of("name")} />
      <Field
        label="Limit per payment, in USD"
        name="capPerPayment"
        required
        mono
        placeholder="0.50"
        value={value?.capPerPayment ?? ""}
        error={error?.of("capPerPayment")}
      />
      <Field
        label="Limit per 24 hours, in USD"
        name="capPerDay"
        required
        mono
        placeholder="5.00"
        value={value?.capPerDay ?? ""}
        error={error?.of("capPerDay")}
      />
      <Field
        label="Allowed hosts"
        name="allowedHosts"
        multiline
        mono
        placeholder="api.example.com"
        hint="One per line. Leave empty to allow any host."
        value={value?.allowedHosts?.join("\n") ?? ""}
        error={listError(error, "allowedHosts")}
      />
      <Field
        label="Allowed payees"
        name="allowedPayees"
        multiline
        mono
        placeholder="0x…"
        hint="Addresses, one per line. Leave empty to allow any payee."
        value={value?.allowedPayees?.join("\n") ?? ""}
        error={listError(error, "allowedPayees")}
      />
      {explained ? null : <Problem error={error} />}
      <div class="actions">
        <Button onClick={props.onCancel}>Cancel</Button>
        <Button kind="primary" submit busy={props.busy}>
          {props.action}
        </Button>
      </div>
    </form>
  )
}
