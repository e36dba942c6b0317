// Shows its children only to certain roles.
import type { ComponentChildren } from "preact"
import type { Role } from "../../domain/Role.ts"
import { useMay } from "./roles.ts"

/** Shows its children to members with one of the roles; in live with one of `live`. */
export const May = (props: {
  readonly roles: ReadonlyArray<Role>
  readonly live?: ReadonlyArray<Role>
  readonly children: ComponentChildren
}) => <>{useMay()(props.roles, props.live) ? props.children : null}</>
