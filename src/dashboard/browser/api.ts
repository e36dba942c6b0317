// Requests to the dashboard's API, and pages that stay current: a visible page asks again every few seconds, and only
// changes are sent.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { openAlertsHeader } from "../api/alerts/openAlertsHeader.ts"
import { ApiError } from "./ApiError.ts"
import { setOpenAlerts } from "./badge.ts"
import { isFollowing, onChange } from "./following.ts"
import { confirmedByPassword } from "./passwordPrompt.ts"
import { toast } from "./toasts.ts"

const offline = (method: string) =>
  new ApiError(0, {
    code: "OFFLINE",
    message: `The service is not responding. Check the connection${
      method === "GET"
        ? "; this page tries again automatically."
        : ". Check whether the change was made before you try again."
    }`
  })

/** A proxy's or firewall's page instead of the service's response. */
const blocked = (status: number, method: string) =>
  new ApiError(0, {
    code: "BLOCKED",
    message: `A firewall or proxy answered instead of the service (HTTP ${status}). Ask the operator of this service to let the request through${
      method === "GET" ? "." : ", and check whether the change was made."
    }`
  })

const readingMillis = 15_000

const send = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
  fetch(`/dashboard/api${path}`, {
    method,
    // Reads have a timeout. A write must not: its outcome would be unknown.
    ...(method === "GET" ? { signal: AbortSignal.timeout(readingMillis) } : {}),
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }).catch(() => {
    throw offline(method)
  })

const failureOf = async (response: Response, method: string): Promise<ApiError> => {
  const body = await response.json().catch(() => undefined)
  if (body?.error !== undefined) {
    const retryAfter = response.headers.get("retry-after")
    return new ApiError(response.status, body.error, retryAfter === null ? undefined : Number(retryAfter))
  }
  return response.status < 500 ? blocked(response.status, method) : offline(method)
}

/** The response's body. Throws ApiError. */
export const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
  const response = await send(method, path, body, {})
  if (!response.ok) throw await failureOf(response, method)
  const text = await response.text()
  return JSON.parse(text === "" ? "null" : text)
}

export interface Page<T> {
  readonly data: T | undefined
  /** The reason why `data` is missing or may be out of date. */
  readonly error: ApiError | undefined
  readonly reload: () => Promise<void>
}

/** Called when a request finds that the session has ended. */
export const sessionEnded = { notify: (): void => {} }

/** Called when a request is refused because the user's role has changed since the session was read. */
export const roleChanged = { notify: (): void => {} }

const retryMillis = 10_000

/** Responses about a merchant contain the number of open alerts. */
const showOpenAlerts = ({ headers }: Response) => {
  const open = headers.get(openAlertsHeader)
  if (open !== null) setOpenAlerts(Number(open))
}

/** Some pages, such as the signature checker, request nothing that would say the number: a small request does. */
export const loadOpenAlerts = (api: string): Promise<void> =>
  send("GET", `${api}/webhook-endpoint`, undefined, {}).then(showOpenAlerts, () => {})

/**
 * The page at `path`, requested again every `everyMillis` while the tab is visible. With `follows`, it is requested
 * when the server reports a change, and periodically only while the server cannot do so.
 */
export const usePage = <T>(path: string, everyMillis = 2_000, follows = false): Page<T> => {
  const [state, setState] = useState<{ path: string; data?: T; error?: ApiError }>({ path })
  const etag = useRef({ path: "", value: "" })
  const turns = useRef({ requested: 0, shown: 0 })

  const load = useCallback(
    async (signal: { stopped: boolean }) => {
      turns.current.requested += 1
      const turn = turns.current.requested
      /** A response that arrives after the response to a later request is out of date. */
      const isOver = () => {
        if (signal.stopped || turn < turns.current.shown) return true
        turns.current.shown = turn
        return false
      }
      try {
        const cachedTag = etag.current.path === path ? etag.current.value : ""
        const response = await send(
          "GET",
          path,
          undefined,
          cachedTag === "" ? {} : { "if-none-match": cachedTag }
        )
        if (response.status === 304) {
          if (isOver()) return true
          showOpenAlerts(response)
          setState((before) => (before.error === undefined ? before : { path, ...dataOf(before) }))
          return true
        }
        if (!response.ok) throw await failureOf(response, "GET")
        const data: T = await response.json().catch(() => {
          throw offline("GET")
        })
        if (isOver()) return true
        showOpenAlerts(response)
        etag.current = { path, value: response.headers.get("etag") ?? "" }
        setState({ path, data })
        return true
      } catch (error) {
        if (!(error instanceof ApiError) || isOver()) return false
        if (error.status === 401) sessionEnded.notify()
        setState((before) => ({ path, ...(before.path === path ? dataOf(before) : {}), error }))
        return false
      }
    },
    [path]
  )

  useEffect(() => {
    const signal = { stopped: false }
    let timer: ReturnType<typeof setTimeout> | undefined
    const turn = async () => {
      clearTimeout(timer)
      const ok = document.hidden ? true : await load(signal)
      wait(ok ? everyMillis : retryMillis, ok)
    }
    const wait = (millis: number, ok: boolean) => {
      if (signal.stopped) return
      timer = setTimeout(() => (ok && follows && isFollowing() ? wait(millis, ok) : turn()), millis)
    }
    const unfollow = follows ? onChange(() => void turn()) : undefined
    const seen = () => {
      if (!document.hidden) turn()
    }
    turn()
    document.addEventListener("visibilitychange", seen)
    return () => {
      signal.stopped = true
      clearTimeout(timer)
      unfollow?.()
      document.removeEventListener("visibilitychange", seen)
    }
  }, [load, everyMillis, follows])

  const reload = useCallback(async () => {
    await load({ stopped: false })
  }, [load])
  const current = state.path === path
  return {
    data: current ? state.data : undefined,
    error: current ? state.error : undefined,
    reload
  }
}

const dataOf = <T>(state: { readonly data?: T }): { data?: T } =>
  state.data === undefined ? {} : { data: state.data }

const wantsPassword = (failure: unknown) =>
  failure instanceof ApiError && failure.code === "PASSWORD_REQUIRED"

/** An action of a form or button. */
export interface Action<A extends ReadonlyArray<unknown>> {
  readonly run: (...args: A) => Promise<void>
  readonly busy: boolean
  readonly error: ApiError | undefined
}

/**
 * An action of a form or button, with its progress and its error. If the service requires the password, prompts for it
 * and runs the action again. An error belongs to the open `dialog` and is cleared with it.
 */
export const useAction = <A extends ReadonlyArray<unknown>>(
  action: (...args: A) => Promise<void>,
  dialog?: unknown
): Action<A> => {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const shown = useRef(dialog)
  shown.current = dialog
  useLayoutEffect(() => setError(undefined), [dialog])
  const run = async (...args: A) => {
    const startedIn = shown.current
    setBusy(true)
    setError(undefined)
    try {
      await action(...args).catch(async (failure) => {
        if (!wantsPassword(failure) || !(await confirmedByPassword())) throw failure
        await action(...args)
      })
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      if (failure.status === 401 && failure.code === "SIGN_IN_REQUIRED") sessionEnded.notify()
      if (failure.code === "ROLE_REQUIRED") roleChanged.notify()
      if (shown.current === startedIn) setError(failure)
      else toast(failure.message, "bad")
    } finally {
      setBusy(false)
    }
  }
  return { run, busy, error }
}
