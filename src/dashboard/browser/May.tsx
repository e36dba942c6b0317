// Shows its children only to some roles.
import type { ComponentChildren } from "preact"
import type { Role } from "../../domain/Role.ts"
import { useMay } from "./roles.ts"

/** Its children, for members who have one of the roles; in live one of `live`. */
export const May = (props: {
  readonly roles: ReadonlyArray<Role>
  readonly live?: ReadonlyArray<Role>
  readonly children: ComponentChildren
}) => <>{useMay()(props.roles, props.live) ? props.children : null}</>
