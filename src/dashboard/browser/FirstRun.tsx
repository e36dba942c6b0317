// The first steps on test. Each is ticked when it is done; the list disappears once all are.

import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { isTest } from "../../domain/networks.ts"
import { integrationRoles } from "../../domain/roleSets.ts"
import type { FirstRunPage } from "../api/firstRun/Api.ts"
import type { IssuedKeyView } from "../api/keys/Api.ts"
import { call, useAction, usePage } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { CodeBlock } from "./components/CodeBlock.tsx"
import { Problem } from "./components/Problem.tsx"
import { Icon } from "./Icon.tsx"
import { useMay } from "./roles.ts"
import type { Place } from "./router.ts"
import { useHref, useSession } from "./session.ts"
import { usePackage } from "./usePackage.ts"

const Step = (props: {
  readonly done: boolean
  readonly title: string
  /** The title once it is done. */
  readonly after: string
  readonly children?: ComponentChildren
}) => (
  <li class={props.done ? "step done" : "step"}>
    <span class="tick" aria-hidden="true">
      {props.done ? <Icon name="check" /> : null}
    </span>
    <div>
      <h3>
        {props.done ? props.after : props.title}
        <span class="hidden">{props.done ? ", done" : ", to do"}</span>
      </h3>
      {props.done ? null : <div class="stack">{props.children}</div>}
    </div>
  </li>
)

const curlOf = (key: string) => `curl ${location.origin}/api/v1/payment-intents \\
  -H 'authorization: Bearer ${key}' \\
  -H 'content-type: application/json' \\
  -d '{ "amount": "1.00", "intentUrl": "https://shop.example.com/orders/1042" }'`

const Steps = ({ data, reload }: { readonly data: FirstRunPage; readonly reload: () => Promise<void> }) => {
  const { api } = useSession()
  const href = useHref()
  const mayChange = useMay()(integrationRoles)
  const [key, setKey] = useState<string>()
  const create = useAction(async () => {
    const body = { kind: "secret", permission: "manage", name: "First steps" }
    setKey((await call<IssuedKeyView>("POST", `${api}/keys`, body)).key)
    await reload()
  })
  const curl = curlOf(key ?? "sk_test_…")
  const cli = `npx --yes ${usePackage("cli.tgz")}`
  return (
    <div class="first-run">
      <Card title="First steps">
        <ol class="steps">
          <Step done title="Add a receiving address" after="Receiving address added" />
          <Step
            done={data.usedKey}
            title="Create a payment intent with a secret key"
            after="Payment intent created with a secret key"
          >
            <CodeBlock command text={curl} what="the command" />
            {key === undefined && mayChange ? (
              <div class="actions start">
                <Button busy={create.busy} onClick={() => void create.run()}>
                  Create a key and fill it in
                </Button>
              </div>
            ) : null}
            {key === undefined ? null : <p class="hint">The key is shown only once: copy the command now.</p>}
            <Problem error={create.error} />
          </Step>
          <Step
            done={data.hasEndpoint}
            title="Register a webhook endpoint"
            after="Webhook endpoint registered"
          >
            <p>
              <a href={href("webhooks")}>Register your server’s URL</a>. While you develop, forward events to
              your machine as well; this works even without a registered endpoint:
            </p>
            <CodeBlock command text={`${cli} login --url ${location.origin}`} what="the login command" />
            <CodeBlock
              command
              text={`${cli} listen --forward-to http://localhost:3000/webhooks/quittance`}
              what="the listen command"
            />
          </Step>
          <Step
            done={data.triedPlayground}
            title="Try the checkout in the playground"
            after="Checkout tried in the playground"
          >
            <p>
              <a
                href={`/playground${data.publishableKey === null ? "" : `#pk=${data.publishableKey}`}`}
                target="_blank"
                rel="noreferrer"
              >
                Open the playground
              </a>{" "}
              with your publishable key, and pay with a wallet that holds test USDC.
            </p>
          </Step>
          <Step done={data.paid} title="See the first payment settle" after="First payment settled">
            <p role="status">Waiting for your first payment. It appears here automatically.</p>
          </Step>
        </ol>
      </Card>
    </div>
  )
}

const remembered = (merchantId: string) => `quittance-first-run ${merchantId}`

const Watched = ({ merchantId }: { readonly merchantId: string }) => {
  const { api } = useSession()
  const { data, reload } = usePage<FirstRunPage>(`${api}/first-run`, 2_000, true)
  if (data === undefined) return null
  if (data.usedKey && data.hasEndpoint && data.triedPlayground && data.paid) {
    localStorage.setItem(remembered(merchantId), "done")
    return null
  }
  return <Steps data={data} reload={reload} />
}

/** True if the merchant may have first steps left. */
export const isFirstRun = ({ env, merchantId }: Place): boolean =>
  isTest(env) && localStorage.getItem(remembered(merchantId)) === null

export const FirstRun = () => {
  const { place } = useSession()
  if (!isFirstRun(place)) return null
  return <Watched merchantId={place.merchantId} />
}
