// The frame of every page: merchant, environment and navigation.

import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { Env } from "../../domain/Chain.ts"
import { envs, faucetNetwork, isTest, networks } from "../../domain/networks.ts"
import type { SessionView } from "../api/accounts/Api.ts"
import { maxOpen } from "../api/alerts/maxOpen.ts"
import { call, loadOpenAlerts, useAction } from "./api.ts"
import { openAlerts, setOpenAlerts, useOpenAlerts } from "./badge.ts"
import { Icon } from "./Icon.tsx"
import { Palette } from "./Palette.tsx"
import { pages } from "./pages.ts"
import { hrefOf, navigate } from "./router.ts"
import { useIsOpen, useSession } from "./session.ts"
import { currentTheme, setTheme } from "./theme.ts"
import { titleOf } from "./titleOf.ts"

const ThemeSwitch = () => {
  const [theme, show] = useState(currentTheme())
  const other = theme === "light" ? "dark" : "light"
  return (
    <button
      type="button"
      class="button quiet"
      onClick={() => {
        setTheme(other)
        show(other)
      }}
    >
      <Icon name={theme === "light" ? "moon" : "sun"} />
      <span>{other === "dark" ? "Dark" : "Light"} theme</span>
    </button>
  )
}

const envWord = (env: Env) => (isTest(env) ? "Test" : "Live")

const EnvSwitch = () => {
  const { place } = useSession()
  const link = (env: Env) => (
    <a
      key={env}
      href={hrefOf({ ...place, env }, place.page)}
      class={`env ${env}`}
      title={`${isTest(env) ? "Test money" : "Real money"} on ${networks[env].name}`}
      aria-current={place.env === env ? "true" : undefined}
    >
      {envWord(env)}
    </a>
  )
  return (
    <nav class="env-switch" aria-label="Environment">
      {envs.map(link)}
    </nav>
  )
}

const MerchantName = ({ merchant }: { readonly merchant: SessionView["merchants"][number] | undefined }) => {
  const { session, place } = useSession()
  if (merchant === undefined) return <p class="merchant">Unknown merchant</p>
  const logo =
    merchant.logoUrl === null ? (
      <span class="logo" aria-hidden="true">
        {merchant.name.slice(0, 1).toUpperCase()}
      </span>
    ) : (
      <img class="logo" src={merchant.logoUrl} alt="" />
    )
  return (
    <div class="merchant">
      {logo}
      {session.merchants.length === 1 ? (
        <span class="merchant-name">{merchant.name}</span>
      ) : (
        <select
          aria-label="Merchant"
          value={merchant.id}
          onChange={({ currentTarget }) =>
            navigate(hrefOf({ ...place, merchantId: currentTarget.value }, place.page))
          }
        >
          {session.merchants.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </div>
  )
}

export const Layout = (props: {
  readonly merchant: SessionView["merchants"][number] | undefined
  readonly children: ComponentChildren
}) => {
  const { api, session, place, refresh } = useSession()
  const isOpen = useIsOpen()
  const open = useOpenAlerts()
  const counted = open < maxOpen ? `${open}` : `${maxOpen}+`
  const [menu, setMenu] = useState(false)
  const title = pages[place.page]?.title ?? "Not found"
  const signOut = useAction(async () => {
    await call("POST", "/sign-out")
    navigate("/dashboard/sign-in")
    await refresh()
  })
  useEffect(() => {
    setMenu(false)
    document.title = titleOf(title, props.merchant?.name, place.env)
  }, [title, place.env, place.id, props.merchant?.name])
  useEffect(() => {
    setOpenAlerts(undefined)
    // By then, most pages have read the number with their data.
    const timer = setTimeout(() => {
      if (openAlerts() === undefined) void loadOpenAlerts(api)
    }, 1_000)
    return () => clearTimeout(timer)
  }, [api])

  return (
    <div class={`frame ${place.env}`}>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <div class="column">
        <header class="bar">
          <MerchantName merchant={props.merchant} />
          <EnvSwitch />
          <button
            type="button"
            class="menu button quiet"
            aria-expanded={menu}
            aria-controls="navigation"
            aria-label={open > 0 ? `Menu, ${counted} open alerts` : "Menu"}
            onClick={() => setMenu(!menu)}
          >
            <Icon name={menu ? "close" : "menu"} />
            {open > 0 && !menu ? <span class="dot" /> : null}
          </button>
        </header>
        <div id="navigation" class={`side${menu ? " open" : ""}`}>
          <nav aria-label="Pages">
            {Object.entries(pages).map(([page, { title: name, icon }]) => (
              <a
                key={page}
                href={hrefOf(place, page)}
                aria-current={place.page === page ? "page" : undefined}
              >
                <Icon name={icon} />
                <span>{name}</span>
                {page === "alerts" && open > 0 ? (
                  <span class="count">
                    {counted}
                    <span class="hidden"> open</span>
                  </span>
                ) : null}
              </a>
            ))}
          </nav>
          <section class="account" aria-label="Account">
            <p title={session.user.email}>{session.user.email}</p>
            <Palette />
            <ThemeSwitch />
            <a class="button quiet" href="/docs" target="_blank" rel="noreferrer">
              <Icon name="external" />
              <span>Documentation</span>
            </a>
            <button
              type="button"
              class="button quiet"
              disabled={signOut.busy}
              onClick={() => void signOut.run()}
            >
              <Icon name="signOut" />
              <span>Sign out</span>
            </button>
          </section>
        </div>
      </div>
      <main id="content" tabIndex={-1}>
        {isOpen ? null : (
          <aside class="notice gated" aria-label="Live payments">
            <Icon name="warning" />
            <span>
              <strong>Live payments are closed.</strong> The checkout requests no new payments on{" "}
              {networks[place.env].name}. Use{" "}
              <a href={hrefOf({ ...place, env: faucetNetwork.env }, "")}>Test</a> in the meantime.
            </span>
          </aside>
        )}
        {props.children}
      </main>
    </div>
  )
}
