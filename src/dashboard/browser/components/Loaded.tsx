// A page while it loads, when it fails, and with its data.

import type { ComponentChildren } from "preact"
import type { ApiError } from "../ApiError.ts"
import { Button } from "./Button.tsx"
import { Empty } from "./Empty.tsx"
import { Warning } from "./Problem.tsx"

export const Skeleton = ({ rows = 6 }: { readonly rows?: number }) => (
  <div class="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      <div key={index} />
    ))}
  </div>
)

export const Failure = ({ error, retry }: { readonly error: ApiError; readonly retry: () => void }) => (
  <Empty
    role="alert"
    icon="warning"
    title={error.status === 404 ? "Not found" : "The page could not be loaded"}
  >
    <p>{error.message}</p>
    {error.requestId === "" ? null : <p class="hint">Request {error.requestId}</p>}
    {error.status === 404 ? null : <Button onClick={retry}>Try again</Button>}
  </Empty>
)

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
      {error === undefined ? null : <Warning role="status">{error.message}</Warning>}
      {props.children(data)}
    </>
  )
}
