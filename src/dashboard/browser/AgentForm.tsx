// The form of an agent's permissions, to create or change it.
import { useEffect } from "preact/hooks"
import type { ApiError } from "./ApiError.ts"
import type { Action } from "./api.ts"
import { Field } from "./components/Field.tsx"
import { Form } from "./components/Form.tsx"
import { type Edits, useEdits } from "./useEdits.ts"

/** The fields in the API's format; an empty list allows any. */
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

/** The error of a list, or of its first invalid line. */
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
  readonly submit: string
  readonly action: Action<[AgentFields, Edits<AgentFields>]>
  readonly onCancel: () => void
}) => {
  const { value } = props
  const { error } = props.action
  const edits = useEdits(value ?? noFields)
  useEffect(() => void edits.failed(error), [error])
  return (
    <Form
      submit={props.submit}
      onCancel={props.onCancel}
      onInput={edits.onInput}
      action={{
        ...props.action,
        run: (typed) => {
          const fields = fieldsFrom(typed)
          return props.action.run(fields, edits.editsOf(fields))
        }
      }}
    >
      <Field label="Name" name="name" required value={value?.name ?? ""} />
      <Field
        label="Cap per payment, in USD"
        name="capPerPayment"
        required
        mono
        placeholder="0.50"
        value={value?.capPerPayment ?? ""}
      />
      <Field
        label="Cap per 24 hours, in USD"
        name="capPerDay"
        required
        mono
        placeholder="5.00"
        value={value?.capPerDay ?? ""}
      />
      <Field
        label="Allowed hosts"
        name="allowedHosts"
        multiline={3}
        mono
        placeholder="api.example.com"
        hint="One host per line. Leave empty to allow any host."
        value={value?.allowedHosts?.join("\n") ?? ""}
        error={listError(error, "allowedHosts")}
      />
      <Field
        label="Allowed payees"
        name="allowedPayees"
        multiline={3}
        mono
        placeholder="0x…"
        hint="One address per line. If empty, an agent with allowed hosts pays only the first payee at each host; any other agent pays any payee."
        value={value?.allowedPayees?.join("\n") ?? ""}
        error={listError(error, "allowedPayees")}
      />
    </Form>
  )
}
