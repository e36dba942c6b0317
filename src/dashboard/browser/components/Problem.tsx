// An error, as a sentence.
import type { ComponentChildren } from "preact"
import type { ApiError } from "../ApiError.ts"
import { Icon } from "../Icon.tsx"

export const Warning = (props: {
  readonly role?: "alert" | "status"
  readonly children: ComponentChildren
}) => (
  <p class="problem" role={props.role ?? "alert"}>
    <Icon name="warning" />
    <span>{props.children}</span>
  </p>
)

/** The sentence of an error that no field explains. */
export const Problem = (props: {
  readonly error: ApiError | undefined
  readonly explained?: ReadonlySet<string>
}) => {
  const { error, explained } = props
  return error === undefined || (explained?.size ?? 0) > 0 ? null : <Warning>{error.message}</Warning>
}
