// What went wrong with a form.

import type { ApiError } from "../api.ts"
import { Icon } from "../Icon.tsx"

/** The sentence of a failure that no single field explains. */
export const Problem = ({
  error,
  fields = []
}: {
  readonly error: ApiError | undefined
  readonly fields?: ReadonlyArray<string>
}) => {
  if (error === undefined || fields.some((field) => error.of(field) !== undefined)) return null
  return (
    <p class="problem" role="alert">
      <Icon name="warning" />
      <span>{error.message}</span>
    </p>
  )
}
