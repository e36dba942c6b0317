// Settings of the merchant, its members and the user's own account, in sections with anchors.
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useState } from "preact/hooks"
import { ownerRoles } from "../../domain/roleSets.ts"
import type { SettingsPage } from "../api/settings/Api.ts"
import { AccountCard } from "./AccountCard.tsx"
import { AuditLogCard } from "./AuditLogCard.tsx"
import { BrandingCard } from "./BrandingCard.tsx"
import { CardLevel } from "./components/Card.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { LanguageCard } from "./LanguageCard.tsx"
import { May } from "./May.tsx"
import { Members } from "./Members.tsx"
import { NotificationsCard } from "./NotificationsCard.tsx"
import { ProfileCard } from "./ProfileCard.tsx"
import { ReceiverCard } from "./ReceiverCard.tsx"
import { useMay } from "./roles.ts"
import { SecurityCard } from "./SecurityCard.tsx"
import { SettlementLevelsCard } from "./SettlementLevelsCard.tsx"
import { TimeZoneCard } from "./TimeZoneCard.tsx"
import { useMerchantPage } from "./useMerchantPage.ts"

interface Part {
  readonly data: SettingsPage
  readonly reload: () => Promise<void>
}

/** The sections by their anchors, in the page's order. */
const sections: Readonly<
  Record<
    string,
    { readonly title: string; readonly owner?: true; readonly cards: (part: Part) => ComponentChildren }
  >
> = {
  receiving: {
    title: "Receiving payments",
    cards: (part) => (
      <>
        <ReceiverCard {...part} />
        <SettlementLevelsCard />
      </>
    )
  },
  business: {
    title: "Business",
    cards: (part) => (
      <>
        <May roles={ownerRoles}>
          <ProfileCard {...part} />
        </May>
        <TimeZoneCard {...part} />
      </>
    )
  },
  branding: {
    title: "Branding",
    owner: true,
    cards: ({ data, reload }) => <BrandingCard branding={data.branding} reload={reload} />
  },
  team: {
    title: "Team",
    cards: (part) => (
      <>
        <Members {...part} />
        <AuditLogCard />
      </>
    )
  },
  notifications: { title: "Notifications", cards: () => <NotificationsCard /> },
  account: {
    title: "Your account",
    cards: () => (
      <>
        <LanguageCard />
        <AccountCard />
      </>
    )
  },
  security: { title: "Security", cards: () => <SecurityCard /> }
}

/** The current section reaches into the upper part of the window; a fixed bar may cover its top. */
const belowTheTop = { rootMargin: "-80px 0px -60% 0px" }

const Sections = (part: Part) => {
  const isOwner = useMay()(ownerRoles)
  const shown = Object.entries(sections).filter(([, { owner }]) => owner === undefined || isOwner)
  // The browser looked for the anchor before the page was rendered.
  useLayoutEffect(() => {
    if (location.hash !== "") document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [])
  const [current, setCurrent] = useState<string>()
  useEffect(() => {
    const inView = new Set<string>()
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) inView.add(target.id)
        else inView.delete(target.id)
      }
      setCurrent((before) => Object.keys(sections).findLast((id) => inView.has(id)) ?? before)
    }, belowTheTop)
    for (const section of document.querySelectorAll(".settings section[id]")) observer.observe(section)
    return () => observer.disconnect()
  }, [])
  return (
    <div class="settings">
      <nav aria-label="Settings">
        {shown.map(([id, { title }]) => (
          <a key={id} href={`#${id}`} aria-current={id === current ? "true" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div class="stack large">
        {shown.map(([id, { cards, title }]) => (
          <section key={id} id={id} class="stack" aria-labelledby={`${id}-title`}>
            <h2 id={`${id}-title`}>{title}</h2>
            <CardLevel.Provider value="h3">{cards(part)}</CardLevel.Provider>
          </section>
        ))}
      </div>
    </div>
  )
}

export const Settings = () => {
  const page = useMerchantPage<SettingsPage>("/settings", { everyMillis: 10_000 })
  return (
    <>
      <h1>Settings</h1>
      <Loaded page={page}>{(data) => <Sections data={data} reload={page.reload} />}</Loaded>
    </>
  )
}
