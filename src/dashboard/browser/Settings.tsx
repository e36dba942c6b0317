// How buyers see the merchant, where money goes, who belongs to it, and one's own account.
import { owners } from "../../domain/roleSets.ts"
import type { SettingsPage } from "../api/settings/Api.ts"
import { AccountCard } from "./AccountCard.tsx"
import { BrandingCard } from "./BrandingCard.tsx"
import { ChangeLog } from "./ChangeLog.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Members } from "./Members.tsx"
import { ProfileCard } from "./ProfileCard.tsx"
import { ReceiverCard } from "./ReceiverCard.tsx"
import { Region } from "./Region.tsx"
import { useMay } from "./roles.ts"
import { SecurityCard } from "./SecurityCard.tsx"
import { TellingCard } from "./TellingCard.tsx"
import { useMerchantPage } from "./useMerchantPage.ts"

export const Settings = () => {
  const page = useMerchantPage<SettingsPage>("/settings", { everyMillis: 10_000 })
  const isOwner = useMay()(owners)
  return (
    <>
      <h1>Settings</h1>
      <Loaded page={page}>
        {(data) => (
          <div class="halves">
            <div class="stack large">
              <ReceiverCard data={data} reload={page.reload} />
              <Members data={data} reload={page.reload} />
              <AccountCard />
              <SecurityCard />
              <TellingCard />
            </div>
            <div class="stack large">
              {isOwner ? (
                <>
                  <ProfileCard data={data} reload={page.reload} />
                  <BrandingCard face={data.face} reload={page.reload} />
                </>
              ) : null}
              <Region data={data} reload={page.reload} />
              <ChangeLog />
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}
