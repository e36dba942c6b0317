import { Effect } from "effect"
import { lostSecrets } from "../../../webhooks/lostSecrets.ts"
import { recreateSecrets } from "../recreateSecrets.ts"
import { failure, warning } from "./Finding.ts"

/** One for each lost key and what lies under it. Without an endpoint's secret its webhooks wait. */
export const secretFindings = Effect.map(lostSecrets, (lost) =>
  lost.map(({ count, kid, owner }) =>
    (owner === "endpoint" ? failure : warning)(
      "secrets",
      `ENCRYPTION_KEYS lacks the key \`${kid}\`. Add it back; where it is lost, make anew ${count} ${recreateSecrets[owner]}`
    )
  )
)
