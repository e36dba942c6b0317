// A form: its fields, its error, and its buttons.
import { type ComponentChildren, createContext, type Ref } from "preact"
import type { ApiError } from "../ApiError.ts"
import type { Action } from "../api.ts"
import { Button } from "./Button.tsx"
import { Problem } from "./Problem.tsx"

export type Fields = Readonly<Record<string, string>>

interface FormState {
  readonly error: ApiError | undefined
  /** The fields that show their own error. */
  readonly explained: Set<string>
}

/** Passes each field of a form its error. */
export const FormContext = createContext<FormState>({ error: undefined, explained: new Set() })

/** The text fields of a submitted form. */
export const fieldsOf = (event: SubmitEvent): Fields => {
  event.preventDefault()
  const form = event.currentTarget
  return form instanceof HTMLFormElement
    ? Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))
    : {}
}

/** With `onCancel`, a dialog's form. An error that no field shows is shown above the buttons. */
export const Form = (props: {
  readonly action: Action<[Fields]>
  readonly submit: string
  /** What it submits, for screen readers, if the page has several such buttons. */
  readonly what?: string
  readonly primary?: boolean
  readonly onCancel?: () => void
  /** Further buttons. */
  readonly beside?: ComponentChildren
  /** The error of those buttons. */
  readonly besideError?: ApiError | undefined
  readonly form?: Ref<HTMLFormElement>
  readonly onInput?: (event: Event) => void
  readonly children?: ComponentChildren
}) => {
  const { action, beside, onCancel } = props
  const isDialog = onCancel !== undefined
  const state = { error: action.error, explained: new Set<string>() }
  return (
    <FormContext.Provider value={state}>
      <form
        ref={props.form ?? null}
        class="stack"
        onInput={props.onInput}
        onSubmit={(event) => void action.run(fieldsOf(event))}
      >
        {props.children}
        <Problem error={action.error ?? props.besideError} explained={state.explained} />
        <div class={isDialog ? "actions" : "actions start"}>
          {isDialog ? <Button onClick={onCancel}>Cancel</Button> : null}
          {isDialog ? beside : null}
          <Button kind={isDialog || props.primary === true ? "primary" : "plain"} submit busy={action.busy}>
            {props.submit}
            {props.what === undefined ? null : <span class="hidden"> {props.what}</span>}
          </Button>
          {isDialog ? null : beside}
        </div>
      </form>
    </FormContext.Provider>
  )
}
