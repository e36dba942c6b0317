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
import { useHref, useSession } from "./session.ts"
import { usePackage } from "./usePackage.ts"

const Step = (props: {
  readonly done: boolean
  readonly title: string
  readonly children?: ComponentChildren
}) => (
  <li class={props.done ? "step done" : "step"}>
    <span class="tick" aria-hidden="true">
      {props.done ? <Icon name="check" /> : null}
    </span>
    <div>
      <h3>
        {props.title}
        <span class="hidden">{props.done ? ", done" : ", to do"}</span>
      </h3>
      {props.done ? null : props.children}
    </div>
  </li>
)

const curlOf = (key: string) => `curl ${location.origin}/api/v1/payment-intents \\
  -H 'authorization: Bearer ${key}' \\
  -H 'content-type: application/json' \\
  -d '{ "amount": "1.00", "intentUrl": "https://shop.example.com/orders/1042" }'`

const listenBy = (cli: string) => `npx --yes ${cli} login --url ${location.origin}
npx --yes ${cli} listen --forward-to http://localhost:3000/webhooks/quittance`

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
  const listen = listenBy(usePackage("cli.tgz"))
  return (
    <div class="first-run">
      <Card title="First steps">
        <ol class="steps">
          <Step done title="A receiving address" />
          <Step done={data.usedKey} title="Create a payment intent with a secret key">
            <CodeBlock text={curl} what="the command" />
            {key === undefined && mayChange ? (
              <div class="actions start">
                <Button busy={create.busy} onClick={() => void create.run()}>
                  Insert a new key
                </Button>
              </div>
            ) : null}
            {key === undefined ? null : <p class="hint">The key is shown only once: copy the command now.</p>}
            <Problem error={create.error} />
          </Step>
          <Step done={data.hasEndpoint} title="Register a webhook endpoint">
            <p>
              <a href={href("webhooks")}>Register your server’s URL</a>. While you develop, forward events to
              your machine as well; this works even without a registered endpoint:
            </p>
            <CodeBlock text={listen} what="the listen command" />
          </Step>
          <Step done={data.triedPlayground} title="Try the checkout in the playground">
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
          <Step done={data.paid} title="See the first payment settle">
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

export const FirstRun = () => {
  const { place } = useSession()
  if (!isTest(place.env) || localStorage.getItem(remembered(place.merchantId)) !== null) return null
  return <Watched merchantId={place.merchantId} />
}
