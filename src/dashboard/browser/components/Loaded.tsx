// A page while it loads, when it fails, when it is empty, and with its data.

import type { ComponentChildren } from "preact"
import type { ApiError } from "../api.ts"
import { Icon, type IconName } from "../Icon.tsx"
import { Button } from "./Button.tsx"

export const Empty = (props: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    <Icon name={props.icon} />
    <p class="empty-title">{props.title}</p>
    {props.children}
  </div>
)

export const Skeleton = ({ rows = 6 }: { readonly rows?: number }) => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      <div key={index} />
    ))}
  </div>
)

export const Failure = ({ error, retry }: { readonly error: ApiError; readonly retry: () => void }) => (
  <div class="empty" role="alert">
    <Icon name="warning" />
    <p class="empty-title">
      {error.status === 404 ? "There is nothing here" : "This page could not be loaded"}
    </p>
    <p>{error.message}</p>
    {error.requestId === "" ? null : <p class="hint">Request {error.requestId}</p>}
    {error.status === 404 ? null : <Button onClick={retry}>Try again</Button>}
  </div>
)

/** What a page shows while it loads, when it fails, and with its data. */
export const Loaded = <T,>(props: {
  readonly page: {
    readonly data: T | undefined
    readonly error: ApiError | undefined
    readonly reload: () => Promise<void>
  }
  readonly children: (data: T) => ComponentChildren
}) => {
  const { data, error, reload } = props.page
  if (data === undefined) {
    return error === undefined ? <Skeleton /> : <Failure error={error} retry={() => void reload()} />
  }
  return (
    <>
      {error === undefined ? null : (
        <p class="problem" role="status">
          <Icon name="warning" />
          <span>{error.message}</span>
        </p>
      )}
      {props.children(data)}
    </>
  )
}
