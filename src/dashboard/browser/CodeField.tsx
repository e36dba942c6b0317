// The code of an authenticator app, asked for once the service has said that it wants one.
import { useContext, useRef } from "preact/hooks"
import { Field } from "./components/Field.tsx"
import { type Fields, FormContext } from "./components/Form.tsx"

/** The fields of a form, without a code where none was given. */
export const withCode = ({ code = "", ...fields }: Fields) =>
  code.trim() === "" ? fields : { ...fields, code: code.trim() }

export const CodeField = ({ always = false }: { readonly always?: boolean }) => {
  const { error } = useContext(FormContext)
  const wanted = useRef(always)
  if (error?.code.startsWith("SECOND_FACTOR_") === true) wanted.current = true
  return wanted.current ? (
    <Field
      label="Code"
      name="code"
      mono
      autoComplete="one-time-code"
      hint="From your authenticator app, or a recovery code."
    />
  ) : null
}
