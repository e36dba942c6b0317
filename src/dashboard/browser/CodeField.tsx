// The code of an authenticator app, requested once the service has required it.
import { useContext, useRef } from "preact/hooks"
import { Field } from "./components/Field.tsx"
import { type Fields, FormContext } from "./components/Form.tsx"

/** The fields of a form, without the code if it is empty. */
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
