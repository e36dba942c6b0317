// The certainty that a payment's block needs before the payment settles, by amount. A merchant may require more than
// the operator.
import { networks } from "../../domain/networks.ts"
import { ownerRoles } from "../../domain/roleSets.ts"
import type { SettlementLevelList } from "../../merchants/settlementLevels/Api.ts"
import { call, useAction } from "./api.ts"
import { Card } from "./components/Card.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { usd } from "./format.ts"
import { useMay } from "./roles.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

type Level = SettlementLevelList["levels"][number]

const waitOf = ({ finality, seconds }: Level): string =>
  finality === "included" || finality === "confirmed"
    ? "within seconds"
    : `in about ${Math.round(seconds / 60)} minutes, once the payment’s block is ${finality === "safe" ? "safe" : "final"} on Ethereum`

const LevelForm = ({ levels, reload }: SettlementLevelList & { readonly reload: () => Promise<void> }) => {
  const { api } = useSession()
  const limited = levels.filter(({ operatorUpTo }) => operatorUpTo !== undefined)
  const save = useAction(async (fields: Fields) => {
    await call(
      "PATCH",
      `${api}/settlement-levels`,
      Object.fromEntries(
        limited.map(({ finality }) => {
          const typed = (fields[finality] ?? "").trim()
          return [finality, typed === "" ? null : typed]
        })
      )
    )
    toast("Saved")
    await reload()
  })
  return (
    <Form submit="Save" what="limits" action={save}>
      {limited.map((level) => (
        <Field
          key={level.finality}
          label={`Largest amount that settles ${waitOf(level)}`}
          name={level.finality}
          value={level.upTo ?? ""}
          hint={`In USD, at most ${usd(level.operatorUpTo ?? "")}. Leave empty to use this limit.`}
        />
      ))}
      <p class="hint">Larger amounts settle {levels.slice(-1).map(waitOf)}.</p>
    </Form>
  )
}

const Levels = () => {
  const page = useMerchantPage<SettlementLevelList>("/settlement-levels")
  const isOwner = useMay()(ownerRoles)
  return (
    <Loaded page={page}>
      {({ levels }) => (
        <Card title="When payments settle">
          {isOwner ? (
            <LevelForm levels={levels} reload={page.reload} />
          ) : (
            <ul>
              {levels.map((level) => (
                <li key={level.finality}>
                  {level.upTo === undefined ? "Above" : `Up to ${usd(level.upTo)}`}: {waitOf(level)}
                </li>
              ))}
            </ul>
          )}
        </Card>
      )}
    </Loaded>
  )
}

/** Nothing on a network with a single level, not even while it loads: what follows must not move. */
export const SettlementLevelsCard = () => {
  const { place } = useSession()
  return networks[place.env].finalityLevels.length < 2 ? null : <Levels />
}
