// The way back to a page's list.
import { Icon } from "../Icon.tsx"
import { useHref } from "../session.ts"

export const Back = (props: {
  readonly to: Parameters<ReturnType<typeof useHref>>[0]
  readonly name: string
}) => (
  <a class="back" href={useHref()(props.to)}>
    <Icon name="back" />
    {props.name}
  </a>
)
