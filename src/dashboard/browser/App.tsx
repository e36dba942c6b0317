// Chooses the page for the current URL and user.
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import type { SessionView } from "../api/accounts/Api.ts"
import { ApiError } from "./ApiError.ts"
import { call, roleChanged, sessionEnded } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Empty } from "./components/Empty.tsx"
import { Failure, Skeleton } from "./components/Loaded.tsx"
import { setFormats } from "./format.ts"
import { Layout } from "./Layout.tsx"
import { PasswordPrompt } from "./PasswordPrompt.tsx"
import { pages } from "./pages.ts"
import { hrefOf, navigate, placeOf, useAddress } from "./router.ts"
import { SignedOutLayout } from "./SignedOutLayout.tsx"
import { SignIn } from "./SignIn.tsx"
import { SignUp } from "./SignUp.tsx"
import { enter, SessionContext } from "./session.ts"
import { Toasts } from "./Toasts.tsx"
import { Welcome } from "./Welcome.tsx"

type State =
  | { readonly tag: "loading" }
  | { readonly tag: "out" }
  | { readonly tag: "failed"; readonly error: ApiError }
  | { readonly tag: "in"; readonly session: SessionView }

const signedOutPaths = ["/dashboard/sign-in", "/dashboard/sign-up", "/dashboard/welcome"]

const Main = () => {
  const address = useAddress()
  const [state, setState] = useState<State>({ tag: "loading" })
  const entries = useRef(0)

  const refresh = useCallback(async () => {
    const entriesBefore = entries.current
    try {
      const session = await call<SessionView>("GET", "/session")
      if (entries.current !== entriesBefore) return
      setFormats(session.user.locale)
      setState({ tag: "in", session })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // Requested before the sign-in, so it says nothing about this session.
      if (entries.current !== entriesBefore) return
      // The page may show something that is shown only once, so it stays unless the service says that the session is
      // over.
      setState((before) =>
        error.status === 401 ? { tag: "out" } : before.tag === "in" ? before : { tag: "failed", error }
      )
    }
  }, [])
  useEffect(() => {
    sessionEnded.notify = () => setState({ tag: "out" })
    roleChanged.notify = () => void refresh()
    void refresh()
  }, [refresh])

  const signedIn = (session: SessionView) => {
    entries.current += 1
    setFormats(session.user.locale)
    setState({ tag: "in", session })
    const back = new URLSearchParams(location.search).get("to")
    if (back?.startsWith("/dashboard/") === true) navigate(back, { replace: true })
    else enter(session)
  }

  const place = placeOf(address)
  const isSignedOutPage = signedOutPaths.includes(address.pathname)
  const isRoot = /^\/dashboard\/?$/.test(address.pathname)
  const home = state.tag === "in" && isRoot && !isSignedOutPage
  useEffect(() => {
    if (state.tag === "out" && !isSignedOutPage) {
      const to = place === undefined ? "" : `?to=${encodeURIComponent(address.pathname + address.search)}`
      navigate(`/dashboard/sign-in${to}`, { replace: true })
    }
    if (home && state.session.merchants.length > 0) enter(state.session)
  })

  if (address.pathname === "/dashboard/welcome") return <Welcome onSignedIn={signedIn} />
  if (address.pathname === "/dashboard/sign-up") return <SignUp onSignedIn={signedIn} />
  if (address.pathname === "/dashboard/sign-in") return <SignIn onSignedIn={signedIn} />
  if (state.tag === "failed") return <Failure error={state.error} retry={() => void refresh()} />
  if (state.tag !== "in") return <Skeleton />
  if (state.session.merchants.length === 0) {
    return (
      <SignedOutLayout title="No merchant yet">
        <p>
          {state.session.user.email} is not a member of any merchant. Ask a member or the operator for an
          invitation.
        </p>
        <Button
          onClick={() =>
            void call("POST", "/sign-out").then(() => {
              setState({ tag: "out" })
            })
          }
        >
          Sign out
        </Button>
      </SignedOutLayout>
    )
  }
  if (place === undefined && !isRoot) {
    return (
      <SignedOutLayout title="Page not found">
        <p>
          There is no page at this address. <a href="/dashboard">Go to the dashboard</a>
        </p>
      </SignedOutLayout>
    )
  }
  if (place === undefined) return <Skeleton />
  const merchant = state.session.merchants.find(({ id }) => id === place.merchantId)
  const Page = merchant === undefined ? undefined : pages[place.page]?.component(place.id)
  return (
    <SessionContext.Provider
      value={{
        session: state.session,
        place,
        api: `/merchants/${place.merchantId}/${place.env}`,
        refresh
      }}
    >
      <Layout merchant={merchant}>
        {Page === undefined ? (
          <Empty icon="search" title="Page not found">
            <a href={merchant === undefined ? "/dashboard" : hrefOf(place)}>Go to overview</a>
          </Empty>
        ) : (
          <Page key={`${place.merchantId} ${place.env} ${place.page} ${place.id ?? ""}`} />
        )}
      </Layout>
    </SessionContext.Provider>
  )
}

export const App = () => (
  <>
    <Main />
    <PasswordPrompt />
    <Toasts />
  </>
)
