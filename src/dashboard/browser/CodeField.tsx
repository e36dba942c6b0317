// The code of an authenticator app, asked for once the service has said that it wants one.
import { useRef } from "preact/hooks"
import type { ApiError } from "./api.ts"
import { Field } from "./components/Field.tsx"

/** The fields of a form, without a code where none was given. */
export const withCode = ({ code = "", ...fields }: Readonly<Record<string, string>>) =>
  code.trim() === "" ? fields : { ...fields, code: code.trim() }

export const CodeField = ({
  error,
  always = false
}: {
  readonly error: ApiError | undefined
  readonly always?: boolean
}) => {
  const wanted = useRef(always)
  if (error?.code.startsWith("SECOND_FACTOR_") === true) wanted.current = true
  return wanted.current ? (
    <Field
      label="Code"
      name="code"
      mono
      autoComplete="one-time-code"
      hint="Of your authenticator app, or a recovery code."
      error={error?.of("code")}
    />
  ) : null
}
